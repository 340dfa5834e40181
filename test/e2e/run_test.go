package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRefusedFlags sets flags that would run the specs elsewhere than the user wants, or that a lab would ignore.
func TestRefusedFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		fails  string
	}{
		"misspelt cloud":  {reason: "it must not run in the lab instead", args: []string{"--cloud", "azuer"}, fails: `--cloud "azuer" is no cloud: choose lab or azure`},
		"a subscription":  {reason: "the user wants to run on it", args: []string{"--subscription", "s"}, fails: "--subscription and --kubeconfig are for --cloud azure only"},
		"another cluster": {reason: "the lab has its own", args: []string{"--kubeconfig", "k"}, fails: "--subscription and --kubeconfig are for --cloud azure only"},
	} {
		t.Run(name, func(t *testing.T) {
			c := runCommand()
			c.SilenceUsage, c.SilenceErrors = true, true
			c.SetArgs(append([]string{"--root", t.TempDir()}, tc.args...))
			if err := c.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), tc.fails) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.fails)
			}
		})
	}
}

// TestCostFirst runs the command on a subscription, from a source tree that has nothing to run.
func TestCostFirst(t *testing.T) {
	const subscription = "20000000-0000-4000-8000-000000000001"
	for name, tc := range map[string]struct {
		reason string
		args   []string
		cost   bool
		fails  string
	}{
		"no subscription": {reason: "nothing starts, although other programs have one", fails: "no subscription. Specs on Azure cost money"},
		"cost":            {reason: "the cost is printed before anything is built", args: []string{"--subscription", subscription}, cost: true, fails: "go test"},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range map[string]string{"AZURE_SUBSCRIPTION_ID": subscription, "AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"} {
				t.Setenv(name, value)
			}
			var out bytes.Buffer
			c := runCommand()
			c.SetOut(&out)
			c.SilenceUsage, c.SilenceErrors = true, true
			c.SetArgs(append([]string{"--cloud", "azure", "--root", t.TempDir(), "--spec", "quick-start", "--flavor", "default"}, tc.args...))
			if err := c.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), tc.fails) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.fails)
			}
			if got := strings.Contains(out.String(), "USD"); got != tc.cost {
				t.Errorf("%s: output %q", tc.reason, out.String())
			}
			if strings.Contains(out.String(), "capz-e2e-") {
				t.Errorf("%s: a run has started: %s", tc.reason, out.String())
			}
		})
	}
}
