package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

var (
	// repositoryPath is a path of this repository that is no part of a longer path. A "*" stands for any letters.
	repositoryPath = regexp.MustCompile(`(?:^|[^\w/.-])((?:api|cmd|docs|hack|internal|lab|sim|test)/[\w./*-]*[\w*])`)
	// codeName is a name in a package, as in `reconcile.Runner`.
	codeName = regexp.MustCompile("`([a-z][a-z0-9]*)\\.([A-Za-z]+)`")
	// annotationKey is an annotation of this provider, of Cluster API or of the Azure Service Operator.
	annotationKey = regexp.MustCompile(`^(?:[a-z0-9-]+\.)+(?:io|com)/[A-Za-z][\w.-]*$`)
	// apiVersion is a group with a version, which looks like an annotation.
	apiVersion = regexp.MustCompile(`/v\d\w*$`)
	// firstCell is the key that a row of a table of annotations begins with.
	firstCell = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
)

// othersAnnotations are the annotations of other projects that the provider reads or writes, by the constants and functions that the code
// does so with.
var othersAnnotations = map[string]string{
	"k8s.io/api/core/v1.LastAppliedConfigAnnotation":                                 corev1.LastAppliedConfigAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.PausedAnnotation":                      clusterv1.PausedAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.ManagedByAnnotation":                   clusterv1.ManagedByAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.ReplicasManagedByAnnotation":           clusterv1.ReplicasManagedByAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.DeleteMachineAnnotation":               clusterv1.DeleteMachineAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.TemplateClonedFromGroupKindAnnotation": clusterv1.TemplateClonedFromGroupKindAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.TemplateClonedFromNameAnnotation":      clusterv1.TemplateClonedFromNameAnnotation,
	"sigs.k8s.io/cluster-api/api/core/v1beta2.MachineSkipRemediationAnnotation":      clusterv1.MachineSkipRemediationAnnotation,
	"sigs.k8s.io/cluster-api/util/annotations.HasPaused":                             clusterv1.PausedAnnotation,
	"sigs.k8s.io/cluster-api/util/annotations.IsPaused":                              clusterv1.PausedAnnotation,
	"sigs.k8s.io/cluster-api/util/annotations.IsExternallyManaged":                   clusterv1.ManagedByAnnotation,
	"sigs.k8s.io/cluster-api/util/annotations.ReplicasManagedByExternalAutoscaler":   clusterv1.ReplicasManagedByAnnotation,
	"sigs.k8s.io/cluster-api/util/annotations.AddAnnotations":                        "",
	"sigs.k8s.io/cluster-api/api/core/v1beta2.AutoscalerMinSizeAnnotation":           "",
	"sigs.k8s.io/cluster-api/api/core/v1beta2.AutoscalerMaxSizeAnnotation":           "",
	"k8s.io/apimachinery/pkg/apis/meta/v1.SetMetaDataAnnotation":                     "",
	"github.com/spf13/cobra.CommandDisplayNameAnnotation":                            "",
	"sigs.k8s.io/cluster-api/util/topology.IsDryRunRequest":                          clusterv1.TopologyDryRunAnnotation,
}

// objectFields begin the names of fields of objects, which look like names in packages.
var objectFields = []string{"spec", "status", "initialization"}

// checkPage compares the page on the architecture with the code: the paths and names on it exist, and it lists the annotations of the code
// and no others. exists reports whether a path of the repository, which may have a "*", exists.
func checkPage(page string, files []file, exists func(string) bool) []string {
	declared := declaredNames(files)
	findings := append(checkPaths(page, exists), checkCodeNames(page, declared)...)
	for _, match := range codeName.FindAllStringSubmatch(page, -1) {
		if declared[match[1]] == nil && !slices.Contains(objectFields, match[1]) {
			findings = append(findings, fmt.Sprintf("no package %s has a %s", match[1], match[2]))
		}
	}
	used, unknown := annotationsOf(files)
	findings = append(findings, unknown...)
	_, section, _ := strings.Cut(page, "\n## Annotations\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, match := range firstCell.FindAllStringSubmatch(section, -1) {
		if listed[match[1]] {
			findings = append(findings, "the annotation "+match[1]+" is listed twice")
		}
		listed[match[1]] = true
		if used[match[1]] == "" {
			findings = append(findings, "no code has the annotation "+match[1])
		}
	}
	for key, at := range used {
		if !listed[key] {
			findings = append(findings,
				fmt.Sprintf("the annotation %s of %s is not listed: who writes and reads it, and what could forged content do?", key, at))
		}
	}
	return sortFindings(findings)
}

// checkPaths looks for the paths of the repository that a page names.
func checkPaths(page string, exists func(string) bool) (findings []string) {
	for _, match := range repositoryPath.FindAllStringSubmatch(page, -1) {
		if !exists(match[1]) {
			findings = append(findings, "there is no "+match[1])
		}
	}
	return findings
}

// checkCodeNames looks for names in packages of the provider that a page has and the packages do not declare.
func checkCodeNames(page string, declared map[string]map[string]bool) (findings []string) {
	for _, match := range codeName.FindAllStringSubmatch(page, -1) {
		file := match[2] == "go"
		if names := declared[match[1]]; names != nil && !names[match[2]] && !file && !slices.Contains(objectFields, match[1]) {
			findings = append(findings, fmt.Sprintf("no package %s has a %s", match[1], match[2]))
		}
	}
	return findings
}

// providerFiles returns the files of the provider, without tests and what helps them.
func providerFiles(files []file) []file {
	return slices.DeleteFunc(slices.Clone(files), func(f file) bool {
		return f.test || strings.HasSuffix(f.dir, "test") || !coversAny([]string{"api/...", "internal/...", "cmd/manager", "cmd/adopt"}, f.dir)
	})
}

// declaredNames returns the names that packages declare, methods among them, by the last element of their path.
func declaredNames(files []file) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, f := range providerFiles(files) {
		name := path.Base(f.dir)
		if out[name] == nil {
			out[name] = map[string]bool{}
		}
		for _, declaration := range f.syntax.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				out[name][declaration.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						out[name][spec.Name.Name] = true
					}
				}
			}
		}
	}
	return out
}

// annotationsOf returns the annotations in the code, with a file that has each, and where the code uses one of another project that
// othersAnnotations does not know.
func annotationsOf(files []file) (keys map[string]string, unknown []string) {
	keys = map[string]string{}
	for _, f := range providerFiles(files) {
		for _, declaration := range f.syntax.Decls {
			for key := range ownAnnotations(declaration) {
				keys[key] = f.path
			}
		}
		for position, name := range f.usedNames() {
			ours := strings.HasPrefix(name, module) || !strings.Contains(strings.SplitN(name, "/", 2)[0], ".")
			key, known := othersAnnotations[name]
			switch {
			case known && key != "":
				keys[key] = f.path
			case known || ours:
			case strings.HasSuffix(name, "Annotation") || strings.HasPrefix(name, "sigs.k8s.io/cluster-api/util/annotations."):
				unknown = append(unknown, fmt.Sprintf("%s uses %s: add it to othersAnnotations in test/architecture", position, name))
			}
		}
	}
	return keys, unknown
}

// ownAnnotations returns the keys that a declaration has as text, without labels and finalizers.
func ownAnnotations(declaration ast.Decl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(declaration, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.ValueSpec:
			name := strings.ToLower(node.Names[0].Name)
			if strings.Contains(name, "finalizer") || strings.Contains(name, "label") {
				return false
			}
			if len(node.Values) == 1 && strings.HasSuffix(name, "annotation") {
				addWanted(out, node.Values[0], func(string) bool { return true })
			}
		case *ast.BasicLit:
			addWanted(out, node, func(text string) bool { return annotationKey.MatchString(text) && !apiVersion.MatchString(text) })
		}
		return true
	})
	return out
}

// addWanted adds the text of an expression to a set if it is wanted.
func addWanted(set map[string]bool, expression ast.Expr, wanted func(string) bool) {
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	if text, err := strconv.Unquote(literal.Value); err == nil && wanted(text) {
		maps.Copy(set, map[string]bool{text: true})
	}
}
