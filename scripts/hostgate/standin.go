package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// page is enough of vLLM's metrics for a stand-in to be taken for an engine.
const page = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="stand-in"} 1
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{model_name="stand-in"} 0
`

// process is a stand-in that runs.
type process struct {
	url  string
	pid  int
	stop func()
}

// startStandIn starts this program again to do something: "burn 1".
func startStandIn(does string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	words := strings.Fields(does)
	return start(exec.Command(self, append([]string{"-be", words[0]}, words[1:]...)...))
}

// interpreter has four threads that want the one lock of CPython.
const interpreter = `
import http.server, sys, threading
page = sys.argv[1].encode()
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/metrics" else 404); self.end_headers(); self.wfile.write(page)
    def log_message(self, *_): pass
def burn():
    while True: sum(range(1000))
for _ in range(4): threading.Thread(target=burn, daemon=True).start()
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
`

func startPython(dir string) (*process, error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, fmt.Errorf("%w: there is no python3", errCannot)
	}
	file := filepath.Join(dir, "interpreter.py")
	if err := os.WriteFile(file, []byte(interpreter), 0o600); err != nil {
		return nil, err
	}
	return start(exec.Command(python, file, page))
}

// start runs a stand-in until it has told its address.
func start(cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{pid: cmd.Process.Pid, stop: sync.OnceFunc(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait() // killed: how it ended is known
	})}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("a stand-in told no address: %w", err)
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

// standIn serves the page and does one thing for ever.
func standIn(what string, args []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, page) })
	mux.HandleFunc("/stream", stream)
	do, ok := standIns[what]
	if !ok {
		return fmt.Errorf("there is no stand-in %q", what)
	}
	if err := do(args); err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, mux)
}

// stream answers without an end.
func stream(w http.ResponseWriter, r *http.Request) {
	chunk := []byte("data: " + strings.Repeat("x", 4090) + "\n\n")
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// standIns begin what a stand-in does beside serving.
var standIns = map[string]func(args []string) error{
	"sleep": func([]string) error { return nil },
	"burn": func([]string) error {
		go func() {
			for {
			}
		}()
		return nil
	},
	"open": open, "fault": fault, "write": write,
}

// open holds so many descriptors more.
func open(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range n {
		if _, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0); err != nil {
			return err
		}
	}
	return nil
}

// fault holds 45 MiB, and goes through so many more of a file, again and again, as memory.
// It begins once it is in a cgroup with a limit: pages belong to the group that touched
// them first.
func fault(args []string) error {
	mib, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "hostgate")
	if err != nil {
		return err
	}
	os.Remove(f.Name())
	block := make([]byte, 1<<20)
	for range mib {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	file, err := syscall.Mmap(int(f.Fd()), 0, mib<<20, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	go func() {
		for !limited() {
			time.Sleep(50 * time.Millisecond)
		}
		const dontNeed = 4 // POSIX_FADV_DONTNEED: what was written above leaves the cache
		syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
		held := make([]byte, 45<<20)
		for sum := byte(0); ; {
			for i := 0; i < len(file); i += os.Getpagesize() {
				sum += file[i]
				held[i%len(held)] = sum
			}
		}
	}()
	return nil
}

// limited reports whether this process is in the group that the case made.
func limited() bool {
	text, _ := os.ReadFile("/proc/self/cgroup") // that it cannot be read means no
	return strings.Contains(string(text), groupName)
}

// write writes to a file, once it is there, block by block past the page cache.
func write(args []string) error {
	block, err := syscall.Mmap(-1, 0, 64<<10, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE) // aligned, as O_DIRECT wants it
	if err != nil {
		return err
	}
	go func() {
		f := -1
		for f < 0 {
			time.Sleep(50 * time.Millisecond)
			f, _ = syscall.Open(args[0], syscall.O_WRONLY|syscall.O_DIRECT|syscall.O_SYNC, 0)
		}
		for {
			if _, err := syscall.Pwrite(f, block, 0); err != nil {
				fmt.Fprintln(os.Stderr, "hostgate: write:", err)
				return
			}
		}
	}()
	return nil
}
