package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/judge"
)

// mostJudged bounds what a judge may say of a recording, bytes.
const mostJudged = 256 << 20

// judges are processes of this program that judge recordings. Each knows the name of a recording
// and no more: its command line and environment are the same for all.
type judges struct {
	features time.Duration // how often they tell these, 0: never
	idle     chan *judgeProcess
	all      []*judgeProcess
}

// judgeProcess reads a recording's name a line and answers with a line (see judge.Serve). It ends
// when its standard input does: with this process, in whatever way that ends.
type judgeProcess struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader

	mu   sync.Mutex
	tail string // the last line on standard error
}

// startJudges starts n of them. The context ends them, and so does stop.
func startJudges(ctx context.Context, n int, features time.Duration) (*judges, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	j := &judges{features: features, idle: make(chan *judgeProcess, n)}
	for range n {
		p, err := startJudge(ctx, exe)
		if err != nil {
			j.stop()
			return nil, err
		}
		j.all = append(j.all, p)
		j.idle <- p
	}
	return j, nil
}

func startJudge(ctx context.Context, exe string) (*judgeProcess, error) {
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args = []string{"llmtop", "drill", "judge"}
	cmd.WaitDelay = 2 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &judgeProcess{cmd: cmd, stdin: stdin, stdout: bufio.NewReaderSize(stdout, 64<<10)}
	cmd.Stderr = p
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a judge: %w", err)
	}
	return p, nil
}

// Write keeps the last line that the process says on standard error.
func (p *judgeProcess) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	p.tail = oneLine(lines[len(lines)-1])
	return len(b), nil
}

func (p *judgeProcess) lastWord() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tail
}

// judge waits for one that has nothing to do and has it judge a recording. It may be called by
// several goroutines.
func (j *judges) judge(ctx context.Context, path string) (drill.Judged, error) {
	select {
	case p := <-j.idle:
		judged, err := p.judge(judge.Asked{Path: path, EverySeconds: j.features.Seconds()})
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err == nil {
			j.idle <- p
		}
		return judged, err
	case <-ctx.Done():
		return drill.Judged{}, ctx.Err()
	}
}

func (p *judgeProcess) judge(asked judge.Asked) (drill.Judged, error) {
	question, err := json.Marshal(asked)
	if err == nil {
		_, err = fmt.Fprintf(p.stdin, "%s\n", question)
	}
	var line []byte
	if err == nil {
		line, err = readLine(p.stdout, mostJudged)
	}
	if err != nil {
		p.cmd.Wait()
		return drill.Judged{}, fmt.Errorf("judging %s: the judge ended: %s", asked.Path, orElse(p.lastWord(), err.Error()))
	}
	var answer judge.Answer
	if err := json.Unmarshal(line, &answer); err != nil {
		return drill.Judged{}, fmt.Errorf("judging %s: what the judge says is no JSON: %w", asked.Path, err)
	}
	if answer.Error != "" || answer.Judged == nil {
		return drill.Judged{}, fmt.Errorf("judging %s: %s", asked.Path, answer.Error)
	}
	return *answer.Judged, nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// readLine reads a line of at most so many bytes.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > most:
			return nil, fmt.Errorf("a line of more than %d bytes", most)
		}
	}
}

// stop ends all and waits for them.
func (j *judges) stop() {
	for _, p := range j.all {
		p.stdin.Close()
	}
	for _, p := range j.all {
		p.cmd.Wait()
	}
}
