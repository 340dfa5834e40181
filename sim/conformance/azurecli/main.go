// Command azurecli tests the simulated Azure with the official Azure CLI, which must be installed: it serves an Azure,
// signs in, and runs all commands of commands.txt.
//
//	go run ./azurecli [-az PROGRAM] [-debian] [-page FILE -roles FOLDER]
//
// With -page it runs the commands of a page of the book instead, in a subscription without resource providers, in which roles are
// enforced. It prints each command with an unexpected result and its output, and fails if there is one.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

//go:embed commands.txt
var commands string

// debian corrects the CLI that Debian 12 has. Python loads a module of this name by itself.
//
//go:embed profile/sitecustomize.py
var debian []byte

func main() {
	az := flag.String("az", "az", "the Azure CLI")
	ofDebian := flag.Bool("debian", false, "ask for versions that the SDK in Debian 12 has")
	page := flag.String("page", "", "run the commands of this page, as docs/book/getting-started.md")
	roles := flag.String("roles", "", "the folder with the role definitions that the page uses, as templates/azure-roles")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := func() error { return runCommands(ctx, os.Stdout, *az, *ofDebian, commands) }
	if *page != "" {
		run = func() error { return runPage(ctx, os.Stdout, *az, *ofDebian, *page, *roles) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runCommands runs the listed commands of the CLI, from first to last: later commands use resources of earlier ones.
func runCommands(ctx context.Context, out io.Writer, az string, ofDebian bool, list string) error {
	steps, err := parseSteps(list)
	if err != nil {
		return err
	}
	shell, stop, err := openShell(ctx, az, ofDebian, server.Options{})
	if err != nil {
		return err
	}
	defer stop()
	begin, failed := time.Now(), 0
	for _, step := range steps {
		printed, complaint, err := shell.runLine(ctx, step.line)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if why := step.findProblem(printed, complaint, err); why != "" {
			failed++
			fmt.Fprintf(out, "line %d: %s\n\t%s\n", step.number, step.line, strings.ReplaceAll(why, "\n", "\n\t"))
		}
	}
	fmt.Fprintf(out, "%d commands in %v, %d had an unexpected result\n", len(steps), time.Since(begin).Round(time.Second), failed)
	if failed > 0 {
		return errors.New("the simulated Azure and the Azure CLI disagree")
	}
	return nil
}

// openShell returns a shell whose Azure CLI is signed in to a new simulated Azure, and a function that ends both.
func openShell(ctx context.Context, az string, ofDebian bool, options server.Options) (out *shell, stop func(), err error) {
	program, err := exec.LookPath(az)
	if err != nil {
		return nil, nil, fmt.Errorf("the Azure CLI is not installed: %w", err)
	}
	dir, err := os.MkdirTemp("", "azurecli-")
	if err != nil {
		return nil, nil, err
	}
	azure, err := startAzure(dir, options)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() {
		_ = azure.Close()
		_ = os.RemoveAll(dir)
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	out = &shell{dir: dir, azure: azure,
		environment: append(azure.clientEnvironment(), "HOME="+dir, "AZURE_CONFIG_DIR="+filepath.Join(dir, "cli"), "AZURE_CORE_OUTPUT=tsv",
			"AZURE_CORE_ONLY_SHOW_ERRORS=true", "AZURE_CORE_COLLECT_TELEMETRY=false")}
	if ofDebian {
		if err := os.WriteFile(filepath.Join(dir, "sitecustomize.py"), debian, 0o600); err != nil {
			return nil, nil, err
		}
		out.environment = append(out.environment, "PYTHONPATH="+dir)
	}
	// Lines call the CLI by its name.
	if err := os.Symlink(program, filepath.Join(dir, "az")); err != nil {
		return nil, nil, err
	}
	out.environment = append(out.environment, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if _, complaint, err := out.runLine(ctx, azure.loginCommand()); err != nil {
		return nil, nil, fmt.Errorf("az login: %w: %s", err, complaint)
	}
	return out, stop, nil
}

// shell runs lines of bash in a directory.
type shell struct {
	dir         string
	azure       *azure
	environment []string
}

func (s *shell) runLine(ctx context.Context, line string) (printed, complaint string, err error) {
	bash := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", line)
	bash.Dir, bash.Env = s.dir, append(os.Environ(), s.environment...)
	var stdout, stderr bytes.Buffer
	bash.Stdout, bash.Stderr = &stdout, &stderr
	err = bash.Run()
	return strings.TrimSpace(stdout.String()), strings.TrimSpace(stderr.String()), err
}
