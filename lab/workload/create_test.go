package workload

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestApplyPart applies manifests of which the API server refuses objects.
func TestApplyPart(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, out string
		want        []string
		none        string
	}{
		"all refused": {
			reason: "nothing is left", out: "Error from server: no such kind", want: []string{"no such kind"}, none: "exists",
		},
		"part": {
			reason: "the Cluster can be deleted with all of its objects",
			out:    "cluster.cluster.x-k8s.io/zz created\nazurecluster.infrastructure.cluster.x-k8s.io/zz created\nError from server: refused",
			want:   []string{"refused", "A part of Cluster zz exists", "`lab delete zz`"},
		},
		"no Cluster": {
			reason: "lab delete finds nothing", out: "azurecluster.infrastructure.cluster.x-k8s.io/zz created\nError from server: Cluster zz created",
			want: []string{"Objects without a Cluster exist", "/clusters/zz.yaml"}, none: "lab delete",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &settings.Settings{Root: t.TempDir(), Dir: t.TempDir()}
			if err := os.Mkdir(s.BinaryPath(""), 0o755); err != nil {
				t.Fatal(err)
			}
			script := "#!/bin/sh\ncat >/dev/null\ncat <<'END'\n" + tc.out + "\nEND\nexit 1\n"
			if err := os.WriteFile(s.BinaryPath("kubectl"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			err := applyManifest(t.Context(), s, "zz", []byte("kind: Cluster"))
			if err == nil {
				t.Fatal("applyManifest reported success")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q lacks %q", tc.reason, err, want)
				}
			}
			if tc.none != "" && strings.Contains(err.Error(), tc.none) {
				t.Errorf("%s: %q has %q", tc.reason, err, tc.none)
			}
		})
	}
}
