// Command definitions adds an api-version of a resource provider to the definitions of resource types, or writes one anew,
// from a checkout of https://github.com/Azure/bicep-types-az:
//
//	go run ./hack/definitions CHECKOUT Microsoft.ContainerService@2026-05-01 [TYPE...]
//
// The types are those that the other versions of the provider have, and those that are named, as in
// "Microsoft.ContainerService/managedClusters". Descriptions are left out, and so are objects that no type refers to.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	directory := flag.String("directory", "sim/definitions", "directory of the definitions")
	flag.Parse()
	if err := run(*directory, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "definitions:", err)
		os.Exit(1)
	}
}

func run(directory string, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: definitions CHECKOUT PROVIDER@VERSION [TYPE...]")
	}
	provider, version, ok := strings.Cut(args[1], "@")
	if !ok {
		return fmt.Errorf("%q is not PROVIDER@VERSION, as in Microsoft.Network@2025-05-01", args[1])
	}
	types, err := wanted(directory, provider, args[2:])
	if err != nil {
		return err
	}
	// The folders between "generated" and the provider are those of service teams, of which several may share a provider, as
	// those of AKS and of its fleets do.
	var found []string
	var files [][]byte
	for _, team := range []string{"*", filepath.Join("*", "*")} {
		paths, err := filepath.Glob(filepath.Join(args[0], "generated", team, strings.ToLower(provider), version, "types.json"))
		if err != nil {
			return err
		}
		found = append(found, paths...)
	}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, raw)
	}
	if len(files) == 0 {
		return fmt.Errorf("0 files of %s below %s: is the first argument a checkout of bicep-types-az, and does the version exist?", args[1],
			filepath.Join(args[0], "generated"))
	}
	out, err := distil(files, provider, version, types)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(found, ", "), err)
	}
	return os.WriteFile(filepath.Join(directory, args[1]+".json"), out, 0o644)
}

// wanted returns the lower-case types to write: those that some version of the provider has already, and more.
func wanted(directory, provider string, more []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, name := range more {
		out[strings.ToLower(name)] = true
	}
	files, err := filepath.Glob(filepath.Join(directory, provider+"@*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var have struct{ Resources map[string]any }
		if err := json.Unmarshal(raw, &have); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for name := range have.Resources {
			out[strings.ToLower(name)] = true
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("sim/definitions has no types of %s yet: add the types to the command line", provider)
	}
	return out, nil
}
