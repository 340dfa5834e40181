package architecture

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestRepository(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d Go files found: the test looks at the wrong directory", len(files))
	}
	checks := map[string]func([]file) []string{
		"imports": checkImports, "names": checkNames, "skips": checkSkips, "docs": checkDocs, "files": checkFiles, "order": checkOrder, "map order": checkMapOrder,
		"output": checkOutput, "pure": checkPure, "writes": checkWrites, "decoders": checkDecoders, "guarded": checkGuarded,
		"api servers": checkAPIServers,
		"doc names":   checkDocNames, "words": checkWords,
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			for _, finding := range check(files) {
				t.Error(finding)
			}
		})
	}
}

// TestChecks runs every check on a violation of its rule; it expects a finding.
func TestChecks(t *testing.T) {
	const doc = "// Package p promises.\npackage p\n"
	tests := map[string]struct {
		reason string
		check  func([]file) []string
		files  map[string]string
		want   []string // the start of each finding
	}{
		"plan imports facts": {
			reason: "a plan that can reach a client is not pure", check: checkImports,
			files: map[string]string{
				"internal/plan/cluster/a.go": doc + `import _ "` + module + `/internal/facts"`,
				"internal/facts/f.go":        doc,
			},
			want: []string{"internal/plan/cluster/a.go imports internal/facts"},
		},
		"plan imports os": {
			reason: "the standard library has impure packages, too", check: checkImports,
			files: map[string]string{"internal/plan/a.go": doc + "import (\n\"strings\"\n\"os\"\n)\nvar _ = os.Args\nvar _ = strings.Cut"},
			want:  []string{"internal/plan/a.go imports os"},
		},
		"plan imports an SDK model and a client": {
			reason: "models are allowed, what sends them is not", check: checkImports,
			files: map[string]string{"internal/plan/a.go": doc + "import (\n_ \"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9\"\n_ \"sigs.k8s.io/controller-runtime/pkg/client\"\n)"},
			want:  []string{"internal/plan/a.go imports sigs.k8s.io/controller-runtime/pkg/client"},
		},
		"a variable beside a call that waits": {
			reason: "the language leaves open which comes first", check: checkOrder,
			files: map[string]string{"internal/facts/a.go": doc + "func a(g interface{ Wait() error }) (int, error) {\n\tx := 0\n\treturn x, " +
				"g.Wait()\n}\nfunc b(g interface{ Wait() error }) (any, error) { return nil, g.Wait() }"},
			want: []string{"internal/facts/a.go:5:2 returns a variable"},
		},
		"an answer by the order of a map": {
			reason: "the same request would get another error", check: checkMapOrder,
			files: map[string]string{"sim/a.go": doc + "func a() error {\n\tfor range map[int]int{} {\n\t\treturn nil\n\t}\n\tfor range map[int]int{} {\n\t}\n" +
				"\tfor range []int{} {\n\t\treturn nil\n\t}\n\treturn nil\n}"},
			want: []string{"sim/a.go:4:2 returns from a loop over a map"},
		},
		"a controller without a guard": {
			reason: "its cache may lack the manager's own writes", check: checkGuarded,
			files: map[string]string{
				"internal/controller/a/a.go": doc + "func a() { b.Complete(r) }",
				"internal/controller/b/a.go": doc + "func a() { b.Complete(lastwrites.Guard(r)) }",
				"internal/webhook/a.go":      doc + "func a() { b.Complete() }",
			},
			want: []string{"internal/controller/a/a.go:3:12 completes a controller without lastwrites.Guard"},
		},
		"definitions with the limits of envtest": {
			reason: "a busy machine takes longer than ten seconds", check: checkAPIServers,
			files: map[string]string{
				"test/flavors/a.go":                     doc + "import \"" + envtestPackage + "\"\nfunc a() {\n\tenvtest.InstallCRDs(nil, x)\n\t_ = envtest.Environment{}\n}",
				"test/flavors/b.go":                     doc + "import \"" + envtestPackage + "\"\nvar user envtest.User",
				"test/integration/harness/apiserver.go": doc + "import \"" + envtestPackage + "\"\nvar e envtest.Environment",
			},
			want: []string{"test/flavors/a.go:5:2 uses envtest.InstallCRDs", "test/flavors/a.go:6:6 uses envtest.Environment"},
		},
		"waits with a limit of their own": {
			reason: "a busy machine takes longer", check: checkAPIServers,
			files: map[string]string{
				"test/integration/a/a.go": doc + "func a() {\n\twait.PollUntilContextTimeout(c, p, 20*time.Second, true, f)\n\t" +
					"wait.PollUntilContextTimeout(c, time.Second, harness.Patience, true, f)\n\tcontext.WithTimeout(c, time.Minute)\n\t" +
					"context.WithTimeout(c, patience)\n}",
				"test/virtual/a.go": doc + "func a() { wait.PollUntilContextTimeout(c, p, 20*time.Second, true, f) }",
			},
			want: []string{"test/integration/a/a.go:4:2 waits with a limit of its own", "test/integration/a/a.go:6:2 waits with a limit of its own"},
		},
		"Report reads": {
			reason: "a status that depends on reads is not a function of the outcome", check: checkPure,
			files: map[string]string{
				"internal/controller/azurecluster/a.go": doc + "import \"" + module + "/internal/clusterinfra/aks\"\ntype Kind struct{ Client, Name " +
					"string }\nfunc (k *Kind) Report() { _ = k.Name; show(k); aks.Follow() }\nfunc (k *Kind) Act() { _ = k.Client }",
				"internal/controller/azurecluster/b.go": doc + "import \"time\"\nfunc show(k *Kind) { k.read() }\nfunc (k *Kind) read() { _, _ = " +
					"k.Client, time.Now() }",
				"internal/clusterinfra/aks/a.go": doc + "import \"context\"\nfunc Follow(ctx context.Context) {}",
			},
			want: []string{"internal/clusterinfra/aks/a.go:4:17: Follow, which Report reaches, uses context.Context",
				"internal/controller/azurecluster/b.go:5:32: read, which Report reaches, uses the kind's Client",
				"internal/controller/azurecluster/b.go:5:42: read, which Report reaches, uses time.Now"},
		},
		"kinds import each other": {
			reason: "code that kinds share has a package of its own", check: checkImports,
			files: map[string]string{
				"internal/controller/azurecluster/a.go": doc + `import _ "` + module + `/internal/controller/azuremachine"`,
				"internal/controller/azuremachine/a.go": doc + `import _ "` + module + `/internal/reconcile/watch"`,
				"internal/reconcile/watch/a.go":         doc,
			},
			want: []string{"internal/controller/azurecluster/a.go imports internal/controller/azuremachine"},
		},
		"a test of the simulator imports the provider": {
			reason: "it would judge the simulator by the provider's beliefs", check: checkImports,
			files: map[string]string{
				"sim/server/a_test.go": "package server\n" + `import _ "` + module + `/internal/arm"`,
				"internal/arm/a.go":    doc,
			},
			want: []string{"sim/server/a_test.go imports internal/arm"},
		},
		"a test of the engine imports the simulator": {
			reason: "tests talk to the simulator over HTTP", check: checkImports,
			files: map[string]string{
				"internal/arm/engine/a_test.go": "package engine\n" + `import _ "` + module + `/sim/server"`,
				"sim/server/a.go":               doc,
			},
		},
		"the engine imports the simulator": {
			reason: "the provider must not know it is in a simulation", check: checkImports,
			files: map[string]string{
				"internal/arm/engine/a.go": doc + `import _ "` + module + `/sim/server"`,
				"sim/server/a.go":          doc,
			},
			want: []string{"internal/arm/engine/a.go imports sim/server"},
		},
		"a directory without a rule": {
			reason: "new packages choose their place", check: checkImports,
			files: map[string]string{"pkg/a.go": doc}, want: []string{"pkg/a.go: no import rule covers pkg"},
		},
		"a clock in a plan": {
			reason: "also as a value, under another name", check: checkNames,
			files: map[string]string{"internal/plan/a.go": doc + "import clock \"time\"\nvar now = clock.Now"},
			want:  []string{"internal/plan/a.go:4:11 uses time.Now"},
		},
		"a method called Now": {
			reason: "only the package's own is banned", check: checkNames,
			files: map[string]string{"internal/plan/a.go": doc + "type c struct{}\nfunc (c) Now() {}\nfunc f(time c) { time.Now() }"},
		},
		"the environment in a controller": {
			reason: "options come from the composition root", check: checkNames,
			files: map[string]string{"internal/controller/azurecluster/a.go": doc + "import \"os\"\nvar _ = os.Getenv(\"A\")"},
			want:  []string{"internal/controller/azurecluster/a.go:4:9 uses os.Getenv"},
		},
		"gomega": {
			reason: "one way to fail", check: checkNames,
			files: map[string]string{"internal/facts/a_test.go": "package facts\nimport \"github.com/onsi/gomega\"\nvar _ = gomega.Equal(1)"},
			want:  []string{"internal/facts/a_test.go:3:9 uses github.com/onsi/gomega.Equal"},
		},
		"a skipped test": {
			reason: "it looks like one that passes", check: checkSkips,
			files: map[string]string{"api/a_test.go": "package api\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Skip() }"},
			want:  []string{"api/a_test.go:3:28 calls t.Skip"},
		},
		"no doc comment": {
			reason: "a package states its promise", check: checkDocs,
			files: map[string]string{"sim/a.go": "package sim\n"}, want: []string{"sim: the package has no doc comment"},
		},
		"no doc comment in a package of tests": {
			reason: "a reader has to learn from somewhere what its tests are about", check: checkDocs,
			files: map[string]string{"test/a/a_test.go": "package a_test\n"}, want: []string{"test/a: the package has no doc comment"},
		},
		"a doc comment in a package of tests": {
			reason: "there is no other file for it", check: checkDocs,
			files: map[string]string{"test/a/main_test.go": "// Package a_test tests.\npackage a_test\n", "test/a/a_test.go": "package a_test\n"},
		},
		"a doc comment beside tests without one": {
			reason: "the tests of a package are not another one", check: checkDocs,
			files: map[string]string{"sim/a.go": doc, "sim/a_test.go": "package p_test\n"},
		},
		"two doc comments": {
			reason: "their order in go doc is arbitrary", check: checkDocs,
			files: map[string]string{"sim/a.go": doc, "sim/b.go": doc}, want: []string{"sim: a.go, b.go each have"},
		},
		"doc comments of other names": {
			reason: "the code moved and the comment stayed; tests and groups are free", check: checkDocNames,
			files: map[string]string{
				"internal/a.go":      doc + "// adds adds.\nfunc add() {}\n\n// A kind.\ntype kind int\n\n// limit's unit is MiB.\nconst limit = 1\n\n// All.\nvar (\n\ta = 1\n)",
				"internal/a_test.go": "package p\n\n// It adds.\nfunc TestAdd() {}",
			},
			want: []string{`internal/a.go:4:1: the doc comment of add begins with "adds"`, `internal/a.go:7:1: the doc comment of kind begins with "A"`},
		},
		"words that are read twice": {
			reason: "keys and tests are free, and so is that nothing exists", check: checkWords,
			files: map[string]string{
				"api/a.go":      doc + "// +capz:immutable:field=\".a\",because=\"after it was made\"\ntype A struct {\n\tB int `json:\"made\"`\n}",
				"internal/a.go": doc + "var a, b, c = \"a is no b\", \"there is no b\", `\"a\": name another one`",
				"sim/a.go":      doc + "var a = \"was made\"",
			},
			want: []string{`api/a.go:3:1 has "made" in a text for users`, `internal/a.go:3:15 has "is no b" in a text for users`,
				`internal/a.go:3:45 has "name another" in a text for users`},
		},
		"a long file": {
			reason: "generated ones are for machines", check: checkFiles,
			files: map[string]string{
				"api/long.go":      doc + strings.Repeat("\n", maxLines),
				"api/generated.go": "// Code generated by a tool. DO NOT EDIT.\n\n" + doc + strings.Repeat("\n", maxLines),
			},
			want: []string{"api/long.go has 602 lines"},
		},
		"a decision by output": {
			reason: "also under another name", check: checkOutput,
			files: map[string]string{"internal/clusterinfra/aks/a.go": doc + "func f(c *cp) bool {\n\tstatus := c.Status\n\treturn " +
				"len(status.Resources) == 0 || c.Status.Resources != nil\n}"},
			want: []string{"internal/clusterinfra/aks/a.go:5:13 reads Resources", "internal/clusterinfra/aks/a.go:5:39 reads Resources"},
		},
		"output that is written": {
			reason: "tests may print", check: checkOutput,
			files: map[string]string{"internal/controller/azurecluster/a.go": doc + "func f(c *cp) { c.Status.Resources = report.Resources(o) }"},
		},
		"a rule about output": {
			reason: "CEL decides as well", check: checkOutput,
			files: map[string]string{
				"api/v1beta1/a.go": doc + "// +kubebuilder:validation:XValidation:rule=`size(oldSelf.status.resources) == 0`\ntype A struct{}"},
			want: []string{"api/v1beta1/a.go:3:1 has a rule about status.resources"},
		},
		"a vague name": {
			reason: "the name does not describe the content", check: checkFiles,
			files: map[string]string{"internal/util/a.go": "// Package util promises.\npackage util\n"},
			want:  []string{"internal/util: name the package"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, content := range test.files {
				root[name] = &fstest.MapFile{Data: []byte(content)}
			}
			files, err := readSource(root)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, finding := range test.check(files) {
				if i < len(test.want) && strings.HasPrefix(finding, test.want[i]) {
					finding = test.want[i]
				}
				got = append(got, finding)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
