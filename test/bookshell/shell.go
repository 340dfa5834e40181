package bookshell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Call is a call of a program in a block.
type Call struct {
	Context context.Context
	// Name is the program's name without its folder.
	Name      string
	Arguments []string
	// Folder is the working directory.
	Folder string
	// Variables are those of the environment.
	Variables map[string]string
	// Input is the standard input if one of the arguments is "-".
	Input string
}

// Program is a function of the test that handles the calls of a program and returns its output. An error ends the call with exit code 1.
type Program func(Call) (output string, err error)

// Shell runs blocks one after the other. The variables that a block sets are those of the next one.
type Shell struct {
	// Folder is the working directory of each block.
	Folder string
	// Programs are the programs that the test plays, by name.
	Programs map[string]Program
	// Others plays programs that are in neither list. Without it they fail.
	Others Program
	// Machine are names of programs that run as they are.
	Machine []string
	// Variables are those that the first block finds, and afterwards also those that blocks have set.
	Variables map[string]string

	mutex    sync.Mutex
	failures []error
}

// client is each played program: it sends name, folder, arguments, variables and input to the test, and prints the answer.
const client = `#!/bin/bash
input=
for argument in "$@"; do [ "$argument" = - ] && input=$(cat); done
exec 3<>/dev/tcp/127.0.0.1/$BOOKSHELL_PORT || exit 1
{ printf '%s\0' "${BOOKSHELL_NAME:-${0##*/}}" "$PWD" $# "$@" "$input"; env -0; printf '\0'; } >&3
read -r code <&3
if [ "$code" = 0 ]; then cat <&3; else cat <&3 >&2; fi
exit "$code"
`

// A job that has ended is no error for those who end it. All variables are handed on, as in a shell that stays open.
const (
	prologue = "set -aeu -o pipefail\nkill() { builtin kill \"$@\" 2>/dev/null || true; }\n"
	others   = "command_not_found_handle() { BOOKSHELL_NAME=$1 played-by-others \"${@:2}\"; }\n"
	mark     = "==== variables of the shell ===="
)

// Run runs a block. Its error has those of the programs and the shell.
func (s *Shell) Run(ctx context.Context, block Block) error {
	programs, err := os.MkdirTemp("", "bookshell")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	if err := s.installPrograms(programs); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go s.serve(ctx, listener)

	script := prologue + block.Text
	if s.Others != nil {
		script = others + script
	}
	command := exec.CommandContext(ctx, "bash", "-c", script+"\necho '"+mark+"'\nenv -0\n")
	command.Dir = s.Folder
	command.Env = []string{"HOME=" + s.Folder, "PATH=" + programs, "BOOKSHELL_PORT=" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	for name, value := range s.Variables {
		command.Env = append(command.Env, name+"="+value)
	}
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	failure := command.Run()
	_, variables, ended := strings.Cut(out.String(), mark+"\n")
	s.mutex.Lock()
	defer s.mutex.Unlock()
	failures := s.failures
	s.failures = nil
	if failure != nil || !ended {
		return errors.Join(append(failures, fmt.Errorf("%w: %s", failure, strings.TrimSpace(messages.String())))...)
	}
	s.Variables = map[string]string{}
	for variable := range strings.SplitSeq(variables, "\x00") {
		switch name, value, _ := strings.Cut(variable, "="); name {
		case "", "HOME", "PATH", "BOOKSHELL_PORT", "PWD", "OLDPWD", "SHLVL", "_":
		default:
			s.Variables[name] = value
		}
	}
	return errors.Join(failures...)
}

// installPrograms fills a folder with the programs that blocks find, and names it bin in the shell's folder too.
func (s *Shell) installPrograms(folder string) error {
	names := slices.Collect(maps.Keys(s.Programs))
	if s.Others != nil {
		names = append(names, "played-by-others")
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(client), 0o700); err != nil {
			return err
		}
	}
	for _, name := range append([]string{"bash", "cat", "env"}, s.Machine...) {
		path, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	link := filepath.Join(s.Folder, "bin")
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(folder, link)
}

// serve answers calls until the listener is closed.
func (s *Shell) serve(ctx context.Context, listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			call, err := readCall(bufio.NewReader(connection))
			call.Context = ctx
			output := ""
			if err == nil {
				output, err = s.Play(call)
			}
			if err != nil {
				s.mutex.Lock()
				s.failures = append(s.failures, fmt.Errorf("%s %s: %w", call.Name, strings.Join(call.Arguments, " "), err))
				s.mutex.Unlock()
				_, _ = fmt.Fprintf(connection, "1\n")
				return
			}
			_, _ = io.WriteString(connection, "0\n"+output)
		}()
	}
}

// Play runs the program of a call: a program may call others.
func (s *Shell) Play(call Call) (string, error) {
	program := s.Programs[call.Name]
	if program == nil {
		program = s.Others
	}
	if program == nil {
		return "", fmt.Errorf("no rule here knows the program %s", call.Name)
	}
	return program(call)
}

func readCall(in *bufio.Reader) (Call, error) {
	call := Call{Variables: map[string]string{}}
	text := func() string {
		part, err := in.ReadString(0)
		if err != nil {
			return ""
		}
		return part[:len(part)-1]
	}
	call.Name, call.Folder = text(), text()
	count, err := strconv.Atoi(text())
	if err != nil {
		return call, fmt.Errorf("the program's client sent no number of arguments: %w", err)
	}
	for range count {
		call.Arguments = append(call.Arguments, text())
	}
	call.Input = text()
	for variable := text(); variable != ""; variable = text() {
		name, value, _ := strings.Cut(variable, "=")
		call.Variables[name] = value
	}
	return call, nil
}
