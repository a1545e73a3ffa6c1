package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"llmtop/probes"
)

// apiKeyVariable is the environment variable with the engine's API key. It is sent
// as a bearer token and never shown or recorded.
const apiKeyVariable = "LLMTOP_API_KEY"

// parseTarget turns what a user types into the engine's address: http://host:port,
// host:port, :port, with or without /metrics or /v1, or the page where its metrics are;
// unix:/run/vllm.sock; an address in another network namespace of this host,
// http://127.0.0.1:8000#netns=4026532281 or #pid=4242.
func parseTarget(arg string) (string, error) {
	if holdsPassword(arg) {
		return "", errPassword()
	}
	text := arg
	if strings.HasPrefix(text, "unix:") {
		return address(text)
	}
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
	u.RawQuery = ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	return address(u.String())
}

// address is what ParseEndpoint makes of an address, as samples carry it.
func address(text string) (string, error) {
	e, err := probes.ParseEndpoint(text)
	if err != nil {
		return "", usage(errors.New(oneLine(err.Error())), "give the engine's address, e.g. http://127.0.0.1:8000")
	}
	return e.String(), nil
}

func errPassword() error {
	return usage(errors.New("the URL must not hold a password"), "give it with --auth basic:USER:PASSWORD, or a token in "+apiKeyVariable)
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

// parseTargets reads several addresses; those that mean the same are one.
func parseTargets(args []string) ([]string, error) {
	var urls []string
	seen := map[string]bool{}
	for _, arg := range args {
		u, err := parseTarget(arg)
		if err != nil {
			return nil, err
		}
		if e, err := probes.ParseEndpoint(u); err == nil && seen[e.Key()] {
			continue
		} else if err == nil {
			seen[e.Key()] = true
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
	if strings.Contains(arg, "://") || strings.HasPrefix(arg, ":") || strings.HasPrefix(arg, "unix:") || holdsPassword(arg) {
		return true
	}
	_, port, err := net.SplitHostPort(arg)
	return err == nil && port != ""
}
