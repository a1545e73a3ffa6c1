package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/discover"
)

// reachOptions say how engines are reached beside their address.
type reachOptions struct {
	auth     string
	ca       string
	insecure bool

	access probes.Access    // what ready made of them
	spared *discover.Spared // of all searches
}

func (o *reachOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.auth, "auth", "", "`credentials` for the engine: bearer:TOKEN, basic:USER:PASSWORD, key:VALUE (X-API-Key), @FILE with one of them or a token, env:NAME (default: the token in "+apiKeyVariable+")")
	f.StringVar(&o.ca, "ca", "", "`file` with the certificates (PEM) that may have signed the engine's, beside those that the system trusts")
	f.BoolVar(&o.insecure, "insecure", false, "do not check the engine's certificate")
}

// ready reads the credentials and certificates, and warns of what is unsafe.
func (o *reachOptions) ready(warn io.Writer) error {
	hushLibraries()
	o.spared = &discover.Spared{}
	auth, err := o.credentials(warn)
	if err != nil {
		return usage(err, "")
	}
	o.access = probes.Access{Auth: auth, Insecure: o.insecure}
	if o.insecure {
		fmt.Fprintf(warn, "llmtop: %s\n", uncheckedWarning)
	}
	if o.ca == "" {
		return nil
	}
	if o.insecure {
		return usage(errors.New("--ca and --insecure exclude each other"), "")
	}
	if o.access.CAs, err = certificates(o.ca); err != nil {
		return usage(err, "")
	}
	return nil
}

const uncheckedWarning = "--insecure: the engine's certificate is not checked"

// note is what the screen says of how engines are reached; "" mostly.
func (o *reachOptions) note() string {
	if o.insecure {
		return uncheckedWarning
	}
	return ""
}

// named is the access to an engine that the user named: it gets the credentials.
func (o *reachOptions) named() probes.Access { return o.access }

// maxSecret bounds a file of credentials.
const maxSecret = 16 << 10

// credentials are what --auth says, else the token of the environment. No error repeats
// what may be a secret.
func (o *reachOptions) credentials(warn io.Writer) (probes.Auth, error) {
	text := o.auth
	switch {
	case text == "" && apiKey() == "":
		return probes.Auth{}, nil
	case text == "":
		auth, err := probes.BearerAuth(apiKey())
		return auth, within(apiKeyVariable, err)
	case strings.HasPrefix(text, "@"):
		name := text[1:]
		secret, err := readSecret(name, warn)
		if err != nil {
			return probes.Auth{}, err
		}
		auth, err := readAuth(secret, true)
		return auth, within("--auth @"+oneLine(name), err)
	case strings.HasPrefix(text, "env:"):
		name := text[len("env:"):]
		if !isVariable(name) { // it may be the secret itself
			return probes.Auth{}, errors.New("--auth env: is followed by the name of a variable")
		}
		secret := strings.TrimSpace(os.Getenv(name))
		if secret == "" {
			return probes.Auth{}, fmt.Errorf("--auth env:%s: the variable is not set", oneLine(name))
		}
		auth, err := readAuth(secret, true)
		return auth, within("--auth env:"+oneLine(name), err)
	}
	auth, err := readAuth(text, false)
	return auth, within("--auth", err)
}

// isVariable reports a name that an environment variable may have.
func isVariable(name string) bool {
	for i, c := range name {
		if c != '_' && !('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || i > 0 && '0' <= c && c <= '9') {
			return false
		}
	}
	return name != ""
}

func within(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", where, err)
}

// readAuth reads one form of credentials; bare says whether a token may stand alone.
func readAuth(text string, bare bool) (probes.Auth, error) {
	kind, secret, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == "bearer":
		return probes.BearerAuth(secret)
	case ok && kind == "key":
		return probes.KeyAuth(secret)
	case ok && kind == "basic":
		user, password, ok := strings.Cut(secret, ":")
		if !ok {
			return probes.Auth{}, errors.New("basic is followed by USER:PASSWORD")
		}
		return probes.BasicAuth(user, password)
	case bare:
		return probes.BearerAuth(text)
	}
	return probes.Auth{}, errors.New("credentials are bearer:TOKEN, basic:USER:PASSWORD, key:VALUE, @FILE or env:NAME")
}

// readSecret reads a file of credentials, and warns when others may read it too.
func readSecret(name string, warn io.Writer) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("reading credentials: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 {
		fmt.Fprintf(warn, "llmtop: %s can be read by others: chmod 600 %s\n", oneLine(name), oneLine(name))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading credentials: %w", err)
	case len(text) > maxSecret:
		return "", fmt.Errorf("reading credentials: %s holds more than %d bytes", oneLine(name), maxSecret)
	}
	return strings.TrimSpace(string(text)), nil
}

// certificates are those of the system and those in a file.
func certificates(name string) (*x509.CertPool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", oneLine(name))
	}
	return pool, nil
}
