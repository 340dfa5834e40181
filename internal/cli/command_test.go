package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

func run(arguments ...string) (string, error) {
	root := cli.NewCommand(&environment.Environment{Version: "v2.0.0"})
	out := &bytes.Buffer{}
	root.SetOut(out)
	root.SetErr(out)
	root.SetArgs(arguments)
	err := root.Execute()
	return out.String(), err
}

// TestBadArguments checks that a wrong argument ends in code 1 with a message that names it.
func TestBadArguments(t *testing.T) {
	tests := map[string]struct {
		reason    string
		arguments []string
		want      string
	}{
		"verb": {"an unknown verb is no verb", []string{"repair"}, `unknown command "repair"`},
		"verb of migrate": {"a script must not continue", []string{"migrate", "chek"},
			"unknown command \"chek\" for \"kubectl capz migrate\"\n\nDid you mean this?\n\tcheck\n"},
		"verb before its flag": {"the verb is wrong, and not the flag", []string{"migrate", "chek", "--to", "v2.0.0"},
			`unknown command "chek" for "kubectl capz migrate"`},
		"flag without a verb": {"the group has no such flag", []string{"migrate", "--to", "v2.0.0"}, "unknown flag: --to"},
		"flag of a verb":      {"the verb exists", []string{"migrate", "check", "--form", "v1"}, "unknown flag: --form"},
		"verb of convert": {"a script must not continue", []string{"convert", "transfers", "c1"},
			`unknown command "transfers" for "kubectl capz convert"`},
		"shell":     {"a script must not continue", []string{"completion", "bahs"}, `unknown command "bahs" for "kubectl capz completion"`},
		"format":    {"the formats are named", []string{"plan", "--output", "yaml"}, `"yaml" is not an output format. Use text or json`},
		"no format": {"a verb with one format has no flag for another", []string{"adopt", "--output", "json"}, "unknown flag: --output"},
		"unused identity": {"resource manifests name a Secret", []string{"convert", "transfer", "c1", "--identity", "i"},
			"--identity requires --to azuremanaged"},
		"unused Secret": {"AzureManaged kinds name an identity",
			[]string{"convert", "transfer", "c1", "--to", "azuremanaged", "--credential-from", "s"}, "--credential-from requires --to azureasomanaged"},
		"former verb": {"scripts of v2.0.0-alpha still run", []string{"convert", "documents", "c1", "--to", "documents", "--identity", "i"},
			"--identity requires --to azuremanaged"},
		"unknown kinds": {"both families are named", []string{"convert", "transfer", "c1", "--to", "aso"},
			`--to "aso": use azuremanaged or azureasomanaged`},
		"version before": {"only check --to names a version to install", []string{"migrate", "check", "--back", "--to", "v2.0.0"},
			"[back to] were all set"},
		"flag": {"a required flag is named", []string{"adopt"}, `required flag(s) "name"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := run(test.arguments...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
			}
			if got := environment.ExitCode(err); got != environment.CodeError {
				t.Errorf("exit code %d, want %d", got, environment.CodeError)
			}
		})
	}
}

// TestVerbs checks that each verb is documented in one line, and that help calls the program as users do.
func TestVerbs(t *testing.T) {
	out, err := run("--help")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "kubectl capz [command]") {
		t.Errorf("help does not show how kubectl calls the program:\n%s", out)
	}
	for _, verb := range cli.NewCommand(&environment.Environment{}).Commands() {
		if verb.Short == "" || verb.Long == "" || !strings.Contains(out, verb.Name()) {
			t.Errorf("%s has no description or is missing in the help", verb.Name())
		}
	}
}

// TestNamespaceShorthand checks that each verb has -n, which the reference lists for all, also a verb with a --namespace of its own.
func TestNamespaceShorthand(t *testing.T) {
	for _, verb := range cli.NewCommand(&environment.Environment{}).Commands() {
		if err := verb.ParseFlags([]string{"-n", "team-a"}); err != nil {
			t.Errorf("%s: %v", verb.Name(), err)
			continue
		}
		if got := verb.Flag("namespace").Value.String(); got != "team-a" {
			t.Errorf("%s: -n sets the namespace %q", verb.Name(), got)
		}
	}
}

// TestGroups checks that a group without a verb shows its verbs, and is no error.
func TestGroups(t *testing.T) {
	for group, verb := range map[string]string{"migrate": "check", "convert": "transfer", "completion": "bash"} {
		if out, err := run(group); err != nil || !strings.Contains(out, "\n  "+verb+" ") {
			t.Errorf("%s: %v\n%s", group, err, out)
		}
	}
}

func TestExitCode(t *testing.T) {
	for want, err := range map[int]error{
		0: nil, 1: errors.New("refused"), 2: fmt.Errorf("plan: %w", environment.FoundError{}),
	} {
		if got := environment.ExitCode(err); got != want {
			t.Errorf("%v: got %d, want %d", err, got, want)
		}
	}
}
