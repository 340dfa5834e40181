package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// asProgram turns the program of the tests into kubectl-capz.
const asProgram = "CAPZ_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestInterrupted interrupts a verb that waits for its standard input, as a user who has forgotten to name a file. The second signal ends it.
func TestInterrupted(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "convert", "aksengine", "--kubernetes-version", "v1.34.2", "-")
	command.Env = append(os.Environ(), asProgram+"=1")
	command.Stderr = t.Output()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	// A pipe holds less. When all of it is written, the verb reads.
	if _, err := io.Copy(in, bytes.NewReader(bytes.Repeat([]byte(" "), 1<<18))); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	again, late := time.NewTicker(50*time.Millisecond), time.NewTimer(time.Minute)
	defer again.Stop()
	for {
		select {
		case <-ended:
			return
		case <-late.C:
			t.Error("the verb does not end after signals")
			_ = command.Process.Kill()
			<-ended
			return
		case <-again.C:
			// Two signals that follow closely count as one.
			_ = command.Process.Signal(os.Interrupt)
		}
	}
}

// TestRunProgram checks that a program gets the variables that the user's environment does not set, even to nothing.
func TestRunProgram(t *testing.T) {
	t.Setenv("CAPZ_TEST_SET", "by the user")
	t.Setenv("CAPZ_TEST_EMPTY", "")
	out := &bytes.Buffer{}
	err := runProgram(t.Context(), out, []string{"CAPZ_TEST_SET=given", "CAPZ_TEST_EMPTY=given", "CAPZ_TEST_MISSING=given"}, "sh", "-c",
		`echo "$CAPZ_TEST_SET,$CAPZ_TEST_EMPTY,$CAPZ_TEST_MISSING"`)
	if got, want := out.String(), "by the user,,given\n"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
