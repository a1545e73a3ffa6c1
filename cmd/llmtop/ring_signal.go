package main

import (
	"os"
	"os/signal"
	"syscall"
)

// spareSIGUSR1 makes SIGUSR1 harmless until stop is called: what it asks for is done by
// whoever calls onSIGUSR1; to everybody else it means nothing, and must not kill.
func spareSIGUSR1() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return func() { signal.Stop(c) }
}

// onSIGUSR1 calls do for each SIGUSR1 until stop is called.
func onSIGUSR1(do func()) (stop func()) {
	c, ended := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(c, syscall.SIGUSR1)
	go func() {
		for {
			select {
			case <-c:
				do()
			case <-ended:
				return
			}
		}
	}()
	return func() { signal.Stop(c); close(ended) }
}
