package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// runPage runs the commands of a page for the Azure CLI in one shell, and prints the requests of each command.
func runPage(ctx context.Context, out io.Writer, az string, ofDebian bool, page, roles string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	lines := pageCommands(string(text))
	if len(lines) == 0 {
		return fmt.Errorf("%s has no commands for the Azure CLI", page)
	}
	shell, stop, err := openShell(ctx, az, ofDebian, server.Options{EnforceRBAC: true, Owners: []string{server.DefaultClientID},
		Unregistered: unregistered})
	if err != nil {
		return err
	}
	defer stop()
	if err := copyRoles(roles, shell.dir); err != nil {
		return err
	}
	begin := time.Now()
	for _, line := range lines {
		mark := len(shell.azure.sim.Requests())
		variable, isExport := strings.CutPrefix(line, "export ")
		variable, _, _ = strings.Cut(variable, "=")
		command := line
		if isExport {
			command += "\nprintf %s \"$" + variable + "\""
		}
		printed, complaint, err := shell.runLine(ctx, command)
		if err != nil || isExport && printed == "" {
			return fmt.Errorf("%s: %w\n%s\n%s", line, cmp.Or(err, errors.New("the value is empty")), printed, complaint)
		}
		if isExport {
			shell.environment = append(shell.environment, variable+"="+printed)
		}
		fmt.Fprintln(out, line)
		for _, request := range shell.azure.sim.Requests()[mark:] {
			if !strings.Contains(request.URL, "/oauth2/") {
				fmt.Fprintf(out, "\t%d %s %s\n", request.Status, request.Method, request.URL)
			}
		}
	}
	fmt.Fprintf(out, "%d commands in %v\n", len(lines), time.Since(begin).Round(time.Second))
	return nil
}

// unregistered are the resource providers that the page may use.
var unregistered = []string{"Microsoft.Compute", "Microsoft.Network", "Microsoft.ManagedIdentity", "Microsoft.ContainerService"}

// pageCommands returns the lines of a page's shell blocks that call az, set variables or change files, without the interactive sign-in.
func pageCommands(text string) (out []string) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside && line != "az login" && (strings.HasPrefix(line, "az ") || strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "sed ")):
			out = append(out, line)
		}
	}
	return out
}

// copyRoles copies role definitions under the names that they have in a release.
func copyRoles(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err == nil && len(files) == 0 {
		err = errors.New("-roles has to name the folder with the role definitions")
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, "azure-role-"+filepath.Base(file)), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}
