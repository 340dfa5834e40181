package command

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// TestVariables checks that clusterctl gets those variables of the installed manager that its configuration does not set.
func TestVariables(t *testing.T) {
	installed := map[string]string{"EXP_EDGEZONE": "true", "EXP_APISERVER_ILB": "true"}
	all := []string{"EXP_APISERVER_ILB=true", "EXP_EDGEZONE=true"}
	for name, test := range map[string]struct {
		reason  string
		flag    string
		files   map[string]string
		want    []string
		wantErr string
	}{
		"no configuration": {reason: "clusterctl needs none", want: all},
		"file of the flag": {
			reason: "clusterctl reads no other file", flag: "c.yaml",
			files: map[string]string{"c.yaml": "EXP_EDGEZONE: \"false\"", "first/clusterctl.yaml": "EXP_APISERVER_ILB: false"}, want: all[:1],
		},
		"found file": {
			reason: "clusterctl reads the first one",
			files:  map[string]string{"first/clusterctl.yaml": "exp_edgezone: false", "second/clusterctl.yaml": "EXP_APISERVER_ILB: false"}, want: all[:1],
		},
		"former folder":   {reason: "clusterctl still reads it", files: map[string]string{"second/clusterctl.yml": "EXP_APISERVER_ILB: false"}, want: all[1:]},
		"without a value": {reason: "clusterctl uses the default of the manifest", files: map[string]string{"first/clusterctl.yaml": "EXP_EDGEZONE:"}, want: all},
		"no file":         {reason: "clusterctl would fail when no manager runs", flag: "c.yaml", wantErr: "configuration of clusterctl: file does not exist"},
		"not YAML":        {reason: "the same", flag: "c.yaml", files: map[string]string{"c.yaml": "["}, wantErr: "configuration of clusterctl in c.yaml"},
		"URL":             {reason: "its variables are not known", flag: "https://example.com/c.yaml", wantErr: "Download it, and set the flag to the file"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &environment.Environment{ClusterctlFolders: []string{"first", "second"}, OpenFile: func(name string) (io.ReadCloser, error) {
				content, has := test.files[name]
				if !has {
					return nil, os.ErrNotExist
				}
				return io.NopCloser(strings.NewReader(content)), nil
			}}
			configuration, err := (&clusterctlFlags{config: test.flag}).readConfiguration(e)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("%s: %v, want %q", test.reason, err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, configuration.missing(installed)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
