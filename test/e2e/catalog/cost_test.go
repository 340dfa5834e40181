package catalog

import (
	"bytes"
	"strings"
	"testing"
)

// TestEveryCaseHasACost makes sure that no case is free by mistake.
func TestEveryCaseHasACost(t *testing.T) {
	for _, c := range Cases {
		if hours[c.Spec] == 0 {
			t.Errorf("%s: the spec has no hours", c.Name())
		}
		for name := range c.Amounts() {
			if prices[name] == 0 {
				t.Errorf("%s: %s has no price", c.Name(), name)
			}
		}
	}
}

func TestPrintCost(t *testing.T) {
	var out bytes.Buffer
	err := PrintCost(&out, []Case{
		{Spec: "quick-start", Flavor: "default", Family: SelfManaged}, {Spec: "quick-start", Flavor: "nvidia-gpu", Family: SelfManaged},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"quick-start  default     1.0    0.39  2 Standard_D2s_v3, 1 disks", "quick-start  nvidia-gpu  1.0    0.97", "1.36", "estimates"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the cost does not contain %q:\n%s", want, out.String())
		}
	}
}
