package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"llmtop/probes/dialect"
	"llmtop/probes/scrape"

	"llmtop/probes"
)

// commonPorts are where the engines listen by default: vLLM, trtllm-serve and our
// own engine 8000 (and the next ones for replicas), llama.cpp 8080, Dynamo workers
// 8081, Triton's metrics 8002, SGLang 30000, TGI 3000, LMDeploy 23333.
var commonPorts = []int{8000, 8001, 8002, 8003, 8080, 8081, 30000, 3000, 23333}

// apiKeyVariable is the environment variable with the engine's API key. It is sent
// as a bearer token and never shown or recorded.
const apiKeyVariable = "LLMTOP_API_KEY"

// parseTarget turns what a user types (http://host:port, host:port, :port, with or
// without /metrics or /v1) into the engine's base URL.
func parseTarget(arg string) (string, error) {
	if holdsPassword(arg) {
		return "", errPassword()
	}
	text := arg
	if strings.HasPrefix(text, ":") {
		text = "127.0.0.1" + text
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", usage(fmt.Errorf("%q is not a URL", oneLine(arg)), "give the engine's address, e.g. http://127.0.0.1:8000")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", usage(fmt.Errorf("%q: only http and https are supported", oneLine(arg)), "")
	}
	if u.User != nil {
		return "", errPassword()
	}
	if strings.HasSuffix(arg, ".llmrec") && !strings.Contains(arg, "://") {
		return "", usage(fmt.Errorf("there is no file %s", oneLine(arg)), "")
	}
	if port := u.Port(); strings.HasSuffix(u.Host, ":") || port != "" && !isPort(port) {
		return "", usage(fmt.Errorf("%q: a port is a number from 1 to 65535", oneLine(arg)), "")
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimRight(u.Path, "/")
	for _, known := range []string{"/metrics", "/v1"} {
		u.Path = strings.TrimSuffix(u.Path, known)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func errPassword() error {
	return usage(errors.New("the URL must not hold a password"), "set "+apiKeyVariable+" instead")
}

// holdsPassword reports whether arg may hold user:password@, even where it is no
// URL otherwise: then no message may repeat it.
func holdsPassword(arg string) bool {
	if _, rest, found := strings.Cut(arg, "://"); found {
		arg = rest
	}
	before, _, found := strings.Cut(arg, "@")
	return found && strings.Contains(before, ":")
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

func parseTargets(args []string) ([]string, error) {
	var urls []string
	for _, arg := range args {
		u, err := parseTarget(arg)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// isFile tells a recording from a URL on the command line.
func isFile(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir()
}

// isDirectory tells a store of recordings from a URL on the command line.
func isDirectory(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && info.IsDir()
}

// looksLikeURL reports whether arg names an address rather than a file that is not there.
func looksLikeURL(arg string) bool {
	if strings.Contains(arg, "://") || strings.HasPrefix(arg, ":") || holdsPassword(arg) {
		return true
	}
	_, port, err := net.SplitHostPort(arg)
	return err == nil && port != ""
}

// discover asks every common local port at once and returns the base URLs of those
// whose metrics an engine dialect knows, in the order of commonPorts.
func discover(ctx context.Context, timeout time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found := make([]string, len(commonPorts))
	var wait sync.WaitGroup
	for i, port := range commonPorts {
		wait.Go(func() {
			base := fmt.Sprintf("http://127.0.0.1:%d", port)
			probe := scrape.New(base, scrapeOptions())
			defer probe.Close()
			section, err := probe.Read(ctx)
			if page, ok := section.(*probes.Scrape); ok && err == nil && page != nil && dialect.Decode(page) != nil {
				found[i] = base
			}
		})
	}
	wait.Wait()
	var urls []string
	for _, u := range found {
		if u != "" {
			urls = append(urls, u)
		}
	}
	return urls
}

func triedPorts() string {
	var b strings.Builder
	for i, port := range commonPorts {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", port)
	}
	return b.String()
}
