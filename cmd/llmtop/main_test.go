package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"llmtop": main})
}

// TestScripts runs the commands as a user does, against a real engine in this
// process and against servers that misbehave.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: func(e *testscript.Env) error { return setEnv(e) },
		Condition: func(word string) (bool, error) { // the others are testscript's own
			if word != "race" {
				return false, fmt.Errorf("unknown condition %q", word)
			}
			return raceEnabled, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"engine":  startEngine,
			"twin":    startTwin,
			"server":  startServer,
			"cut":     cutFile,
			"flip":    flipByte,
			"traffic": makeTraffic,
			"status":  wantStatus,
			"waitfor": waitForWriter,
		},
	})
}

func setEnv(e *testscript.Env) error {
	e.Setenv("COLUMNS", "80")
	e.Setenv("LINES", "24")
	e.Setenv("LANG", "C.UTF-8")
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	e.Setenv("ROOT", root+"/../..")
	return nil
}
