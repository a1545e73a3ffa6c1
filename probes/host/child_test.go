package host

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestMain is also the processes that tests start: with a task they do that instead.
func TestMain(m *testing.M) {
	task, argument, _ := strings.Cut(os.Getenv("LLMTOP_TEST_TASK"), " ")
	n, _ := strconv.Atoi(argument)
	switch task {
	case "threads":
		hold(n)
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	case "parent": // of n processes, one after the other's ready
		for range n {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "LLMTOP_TEST_TASK=threads 1")
			c.Stdin = os.Stdin
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				fmt.Println(err)
				return
			}
			bufio.NewReader(out).ReadString('\n')
			fmt.Println(c.Process.Pid)
		}
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

// hold makes n threads that wait until they are released.
func hold(n int) (release func()) {
	ready, released := make(chan bool), make(chan bool)
	for range n {
		go func() {
			runtime.LockOSThread() // it ends with the goroutine
			ready <- true
			<-released
		}()
	}
	for range n {
		<-ready
	}
	return func() { close(released) }
}

// child starts a process with a task; it ends when end is called or with the test.
// The lines it said before "ready" are returned.
func child(t testing.TB, task string) (pid int, said []string, end func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LLMTOP_TEST_TASK="+task)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			c.Wait()
		}
	}
	t.Cleanup(end)
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		said = append(said, lines.Text())
	}
	return c.Process.Pid, said, end
}
