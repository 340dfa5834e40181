package managedcluster

import (
	"strings"
	"testing"
)

// TestSystemPool creates clusters with and without a pool of mode System.
func TestSystemPool(t *testing.T) {
	hosted := map[string]any{"hostedSystemProfile": map[string]any{"enabled": true}}
	off := map[string]any{"hostedSystemProfile": map[string]any{"enabled": false}}
	for name, test := range map[string]struct {
		mode       string
		properties map[string]any
		waits      bool
	}{
		"system pool":            {mode: "System"},
		"user pool":              {mode: "User", waits: true},
		"user pool, off":         {mode: "User", properties: off, waits: true},
		"AKS runs the system":    {mode: "User", properties: hosted},
		"AKS decides the mode":   {mode: ""},
		"system pool and hosted": {mode: "System", properties: hosted},
	} {
		t.Run(name, func(t *testing.T) {
			profiles, blocked, refused := BuildProfiles("AzureManagedMachinePool", []NewPool{{Holder: "AzureManagedMachinePool p", Name: "p",
				Mode: test.mode, Properties: map[string]any{}, HasMachinePool: true}}, test.properties)
			if len(profiles) != 1 || strings.Contains(blocked, "mode System") != test.waits || refused != "" {
				t.Errorf("%d profiles, waits for %q, refused %q", len(profiles), blocked, refused)
			}
		})
	}
}
