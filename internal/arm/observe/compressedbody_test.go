package observe_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

func TestCompress(t *testing.T) {
	machine := func(name string) string {
		return fmt.Sprintf(`{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/%[1]s","location":"eastus","properties":{"hardwareProfile":{"vmSize":"Standard_D2s_v3"},`+
			`"storageProfile":{"osDisk":{"name":"%[1]s_OSDisk","caching":"ReadOnly","createOption":"FromImage","diskSizeGB":128}},"osProfile":{"computerName":"%[1]s","adminUsername":"capi"}}}`, name)
	}
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	var p observe.Compressor
	for name, tc := range map[string]struct {
		reason string
		kind   string
		bodies []string
		most   int
	}{
		"alike": {"the common part of two bodies is stored as a reference", "machine",
			[]string{machine("a-0"), machine("b-1"), machine("c-22")}, 100},
		"the same": {"repetitions take little memory", "same", []string{machine("a"), machine("a")}, 20},
		"different": {"a body without common parts is compressed by itself", "other",
			[]string{`{"a":1}`, strings.Repeat(`{"name":"x"},`, 100)}, 100},
		"empty": {"an empty body is a body", "empty", []string{"", machine("a")}, 400},
		"long": {"a body longer than flate's window is compressed, too, and does not grow much", "long",
			[]string{string(noise), string(noise[1:]), machine("a")}, 101_000},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []observe.CompressedBody
			for _, body := range tc.bodies {
				bodies = append(bodies, p.Compress(tc.kind, []byte(body)))
			}
			for i, body := range bodies {
				got, err := body.Decompress()
				if err != nil || string(got) != tc.bodies[i] {
					t.Errorf("%s: body %d of %d bytes is opened as %d: %v", tc.reason, i, len(tc.bodies[i]), len(got), err)
				}
				if body.IsEmpty() || body.Size() > tc.most {
					t.Errorf("%s: body %d of %d bytes takes %d, want at most %d", tc.reason, i, len(tc.bodies[i]), body.Size(), tc.most)
				}
			}
		})
	}
	if !(observe.CompressedBody{}).IsEmpty() {
		t.Error("the zero value has a body")
	}
}
