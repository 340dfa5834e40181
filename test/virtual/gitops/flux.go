package gitops

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/gitops"
)

// fluxKustomization has the fields of a Kustomization of Flux that releases ship.
type fluxKustomization struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Wait             bool        `json:"wait"`
		HealthCheckExprs []fluxCheck `json:"healthCheckExprs"`
	} `json:"spec"`
}

// fluxCheck has the expressions of a kind.
type fluxCheck struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

// fluxPrograms are the compiled expressions of a kind in the order of their evaluation; nil is true for no object.
type fluxPrograms struct{ inProgress, failed, current cel.Program }

// fluxChecks returns the compiled expressions of the release, by kind.
var fluxChecks = sync.OnceValues(func() (map[schema.GroupVersionKind]fluxPrograms, error) {
	shipped := fluxKustomization{}
	if err := yaml.UnmarshalStrict(gitops.FluxHealth, &shipped); err != nil {
		return nil, err
	}
	// The variables are the members of the object, of any type.
	environment, err := cel.NewEnv(cel.Variable("metadata", cel.DynType), cel.Variable("spec", cel.DynType), cel.Variable("status", cel.DynType))
	if err != nil {
		return nil, err
	}
	out := map[schema.GroupVersionKind]fluxPrograms{}
	for _, check := range shipped.Spec.HealthCheckExprs {
		programs := fluxPrograms{}
		for expression, program := range map[string]*cel.Program{
			check.InProgress: &programs.inProgress, check.Failed: &programs.failed, check.Current: &programs.current} {
			if expression == "" {
				continue
			}
			ast, issues := environment.Compile(expression)
			if issues.Err() != nil {
				return nil, fmt.Errorf("%s: %w", check.Kind, issues.Err())
			}
			if *program, err = environment.Program(ast); err != nil {
				return nil, fmt.Errorf("%s: %w", check.Kind, err)
			}
		}
		out[schema.FromAPIVersionAndKind(check.APIVersion, check.Kind)] = programs
	}
	return out, nil
})

// ComputeFluxHealth returns the health of an object as Flux computes it with expressions; "" for a kind without any. An observed generation
// that is not the current one means InProgress. Then the expressions count in the order inProgress, failed, current.
// https://fluxcd.io/flux/components/kustomize/kustomizations/#health-check-expressions
func ComputeFluxHealth(object *unstructured.Unstructured) (kstatus.Status, error) {
	checks, err := fluxChecks()
	if err != nil {
		return "", err
	}
	check, ok := checks[object.GroupVersionKind()]
	if !ok {
		return "", nil
	}
	observed, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	if err != nil {
		return "", err
	}
	if found && observed != object.GetGeneration() {
		return kstatus.InProgressStatus, nil
	}
	for _, each := range []struct {
		program cel.Program
		status  kstatus.Status
	}{{check.inProgress, kstatus.InProgressStatus}, {check.failed, kstatus.FailedStatus}, {check.current, kstatus.CurrentStatus}} {
		if each.program == nil {
			continue
		}
		result, _, err := each.program.Eval(object.Object)
		if err != nil {
			return "", fmt.Errorf("%s: %w", object.GetKind(), err)
		}
		if result.Value() == true {
			return each.status, nil
		}
	}
	return kstatus.InProgressStatus, nil
}
