package book_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
)

// kubectlFlags are flags that may stand before the verb, and have a value.
var kubectlFlags = []string{"--kubeconfig", "--namespace", "-n", "--context"}

// maxCreated is the most objects that are created for one command.
const maxCreated = 10

// dryRun are the verbs with --dry-run.
var dryRun = []string{"annotate", "apply", "create", "delete", "expose", "label", "patch", "run", "scale", "set"}

// harmless are errors of correct commands: the API server has no kubelets and no controllers.
var harmless = regexp.MustCompile(`no objects passed to scale|no matching resources found|executable kubelogin not found|[Aa]lready ?[Ee]xists|timed out waiting for the condition|does not have a host assigned|pod is not running\. Current status=Pending|context deadline exceeded|` +
	`^exit status 1: (yes|no)$`)

// unknownKind are errors because of kinds of other programs.
var unknownKind = regexp.MustCompile(`resource type "([a-z.]+)"|no matches for kind "([A-Za-z]+)"`)

var notFound = regexp.MustCompile(`([a-z0-9.-]+) "([^"]+)" not found`)

// kubectl runs kubectl against the API server. Requests that change something are dry runs, and objects that a command names are created
// before it is run again.
func (r *reader) kubectl(call bookshell.Call) (string, error) {
	arguments := slices.Clone(call.Arguments)
	if arguments[0] == "capz" {
		return r.playCapz(call, arguments[1:])
	}
	verb, namespace := indexOfVerb(arguments), r.namespace
	for i, argument := range arguments {
		name, value, given := strings.Cut(argument, "=")
		if !given && i+1 < len(arguments) {
			value = arguments[i+1]
		}
		switch {
		case argument == "--":
		case name == "--namespace" || name == "-n":
			namespace = value
		case name == "--kubeconfig":
			if err := r.writeMissing(filepath.Join(call.Folder, value)); err != nil {
				return "", err
			}
		}
	}
	if verb < 0 {
		return "", errors.New("kubectl needs a verb")
	}
	if file := call.Variables["KUBECONFIG"]; file != "" {
		if err := r.writeMissing(filepath.Join(call.Folder, file)); err != nil {
			return "", err
		}
	}
	if arguments[verb] == "annotate" {
		if err := r.checkAnnotations(arguments[verb+1:]); err != nil {
			return "", err
		}
	}
	var more []string
	switch name := arguments[verb]; {
	case name == "create" && arguments[verb+1] == "token":
	case slices.Contains(dryRun, name):
		more = []string{"--dry-run=server"}
	case name == "logs" || name == "port-forward" || name == "exec":
		more = []string{"--pod-running-timeout=1s"}
	case name == "wait":
		// Nothing comes about that a command waits for.
		arguments = slices.DeleteFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "--timeout=") })
		if i := slices.Index(arguments, "--timeout"); i >= 0 {
			arguments = slices.Delete(arguments, i, i+2)
		}
		more = []string{"--timeout=1s"}
	}
	arguments = slices.Insert(arguments, verb+1, more...)
	arguments = slices.DeleteFunc(arguments, func(a string) bool { return a == "--watch" })
	if slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "https://") }) {
		return "", r.parseByHelp(call, r.kubectlPath, arguments) // Tests have no network.
	}
	for attempt := 0; ; attempt++ {
		out, err := r.run(call, r.kubectlPath, arguments...)
		if err == nil || harmless.MatchString(err.Error()) {
			return out, r.checkPaths(call, arguments[verb:])
		}
		if isOfOthers(err.Error()) {
			return out, nil
		}
		match := notFound.FindStringSubmatch(err.Error())
		if match == nil || attempt == maxCreated {
			return "", err
		}
		if created := r.createObject(call.Context, match[1], namespace, match[2]); created != nil {
			return "", fmt.Errorf("%w; to create it: %w", err, created)
		}
	}
}

// pathOfField is a path in a template of the output, with filters of lists.
var pathOfField = regexp.MustCompile(`\.(?:status|spec)(?:\.[A-Za-z]+|\[[^\]]*\])*`)

var filterOfList = regexp.MustCompile(`\[[^\]]*\]`)

// checkPaths asks the API server whether the kinds have the fields that the output of kubectl get is made of. kubectl prints nothing for
// others.
func (r *reader) checkPaths(call bookshell.Call, arguments []string) error {
	if arguments[0] != "get" || len(arguments) < 2 || !strings.Contains(strings.Join(arguments, " "), "jsonpath") &&
		!strings.Contains(strings.Join(arguments, " "), "custom-columns") {
		return nil
	}
	paths := map[string]bool{}
	for _, argument := range arguments[2:] {
		for _, path := range pathOfField.FindAllString(argument, -1) {
			paths[filterOfList.ReplaceAllString(path, "")] = true
		}
	}
	for kind := range strings.SplitSeq(arguments[1], ",") {
		kind, _, _ = strings.Cut(kind, "/")
		for path := range paths {
			if _, done := r.explained.Load(kind + path); done {
				continue
			}
			if defined, err := r.isDefined(call.Context, kind, path); err != nil {
				return err
			} else if !defined {
				if _, err := r.run(call, r.kubectlPath, "explain", kind+path); err != nil {
					return err
				}
			}
			r.explained.Store(kind+path, true)
		}
	}
	return nil
}

// isDefined reports whether the definition of a custom kind has a field. kubectl explain loads and parses the API server's description of
// the whole group for each field, so it is only asked about the fields that are not found here.
func (r *reader) isDefined(ctx context.Context, resource, path string) (bool, error) {
	mapper := environment.Client.RESTMapper()
	kind, err := mapper.KindFor(schema.ParseGroupResource(resource).WithVersion(""))
	if err != nil {
		return false, nil // kubectl may know another name of the kind.
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return false, err
	}
	found, known := r.definitions.Load(mapping.Resource.GroupResource())
	if !known {
		definition := &unstructured.Unstructured{}
		definition.SetAPIVersion("apiextensions.k8s.io/v1")
		definition.SetKind("CustomResourceDefinition")
		name := client.ObjectKey{Name: mapping.Resource.GroupResource().String()}
		if err := client.IgnoreNotFound(environment.Client.Get(ctx, name, definition)); err != nil {
			return false, err
		}
		found, _ = r.definitions.LoadOrStore(mapping.Resource.GroupResource(), definition.Object)
	}
	versions, _, _ := unstructured.NestedSlice(found.(map[string]any), "spec", "versions")
	for _, version := range versions {
		if version := version.(map[string]any); version["name"] == kind.Version {
			structural, _, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
			return hasField(structural, strings.Split(strings.TrimPrefix(path, "."), ".")), nil
		}
	}
	return false, nil
}

// hasField reports whether a schema has properties of these names, one in the other. Elements of lists have no name.
func hasField(structural map[string]any, names []string) bool {
	for {
		items, is := structural["items"].(map[string]any)
		if !is {
			break
		}
		structural = items
	}
	if len(names) == 0 {
		return true
	}
	properties, _ := structural["properties"].(map[string]any)
	property, is := properties[names[0]].(map[string]any)
	return is && hasField(property, names[1:])
}

// isOfOthers reports whether all kinds that are missing according to an error are those of other programs.
func isOfOthers(message string) bool {
	missing := unknownKind.FindAllStringSubmatch(message, -1)
	return len(missing) > 0 && !slices.ContainsFunc(missing, func(m []string) bool { return otherKinds[m[1]+m[2]] == "" })
}

// writeMissing writes a kubeconfig if there is no file of the name.
func (r *reader) writeMissing(name string) error {
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, []byte(r.kubeconfig), 0o600)
}

// createObject creates an object that a command names, of the contents that the templates and the components have for its kind.
func (r *reader) createObject(ctx context.Context, resource, namespace, name string) error {
	kind, err := environment.Client.RESTMapper().KindFor(schema.ParseGroupResource(resource).WithVersion(""))
	if err != nil {
		return err
	}
	mapping, err := environment.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	object := r.objects[kind.Kind+" "+name]
	if object == nil {
		object = r.objects[kind.Kind]
	}
	if object == nil {
		object = &unstructured.Unstructured{Object: map[string]any{}}
		object.SetGroupVersionKind(kind)
	}
	object = object.DeepCopy()
	object.SetName(name)
	object.SetNamespace("")
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(namespace)
		err := environment.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	if err := environment.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
