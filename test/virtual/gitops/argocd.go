package gitops

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/config/gitops"
)

// healthKey is the beginning of the keys of Argo CD's ConfigMap with health checks.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/health/#way-1-define-a-custom-health-check-in-argocd-cm-configmap
const healthKey = "resource.customizations.health."

// Health is what Argo CD shows for an object.
type Health struct{ Status, Message string }

// argoCDHealth has the result of kstatus for each status of Argo CD but Suspended.
var argoCDHealth = map[string]kstatus.Status{
	"Healthy": kstatus.CurrentStatus, "Progressing": kstatus.InProgressStatus, "Degraded": kstatus.FailedStatus,
}

// argoCDChecks returns the compiled checks of the release, by kind.
var argoCDChecks = sync.OnceValues(func() (map[string]*lua.FunctionProto, error) {
	config := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(gitops.ArgoCDHealth, config); err != nil {
		return nil, err
	}
	out := map[string]*lua.FunctionProto{}
	for key, script := range config.Data {
		kind, ok := strings.CutPrefix(key, healthKey+infrav1.GroupVersion.Group+"_")
		if !ok {
			return nil, fmt.Errorf("the key %s is not that of a health check of this provider", key)
		}
		chunk, err := parse.Parse(bytes.NewBufferString(script), key)
		if err != nil {
			return nil, err
		}
		if out[kind], err = lua.Compile(chunk, key); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// ComputeArgoCDHealth returns the health of an object as Argo CD computes it: objects that are being deleted are Progressing, kinds without a
// check have no health, and checks run without most libraries of Lua.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/health/
func ComputeArgoCDHealth(object *unstructured.Unstructured) (Health, error) {
	checks, err := argoCDChecks()
	if err != nil {
		return Health{}, err
	}
	check := checks[object.GetKind()]
	switch {
	case object.GetDeletionTimestamp() != nil:
		return Health{Status: "Progressing", Message: "Pending deletion"}, nil
	case check == nil:
		return Health{}, nil
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return Health{}, err
		}
	}
	state.SetGlobal("obj", toLua(state, object.Object))
	state.Push(state.NewFunctionFromProto(check))
	if err := state.PCall(0, 1, nil); err != nil {
		return Health{}, err
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return Health{}, fmt.Errorf("the check of %s returns no table", object.GetKind())
	}
	return Health{Status: lua.LVAsString(result.RawGetString("status")), Message: lua.LVAsString(result.RawGetString("message"))}, nil
}

// toLua converts a part of an object.
func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	case []any:
		table := state.CreateTable(len(value), 0)
		for _, element := range value {
			table.Append(toLua(state, element))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, member := range value {
			table.RawSetString(key, toLua(state, member))
		}
		return table
	}
	return lua.LNil
}
