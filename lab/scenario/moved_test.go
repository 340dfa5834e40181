package scenario

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
)

// signIn gives programs the variables by which they sign in to the simulated Azure.
func (l *lab) signIn() {
	l.t.Helper()
	for name, value := range management.ClientEnvironment(l.loadSettings()) {
		if strings.HasPrefix(name, "AZURE_") || name == "SSL_CERT_FILE" {
			l.variables = append(l.variables, name+"="+value)
		}
	}
}

// stepLine is the line of a step of kubectl capz migrate: number, count, name.
var stepLine = regexp.MustCompile(`^\[(\d+)/(\d+)\] (\S+): `)

// runKilled runs a command of kubectl capz again and again until it ends. Each run is killed, with clusterctl, after one more step. killed
// is called after each kill with the name of the step; it may be nil. The result is the output of the last run.
func (l *lab) runKilled(line string, killed func(step string)) string {
	l.t.Helper()
	arguments, isCapz := strings.CutPrefix(strings.TrimSpace(line), "kubectl capz ")
	if !isCapz {
		l.t.Fatalf("%q is no command of kubectl capz", line)
	}
	done := map[string]bool{}
	for runs := 1; ; runs++ {
		step, out, err := l.runUntilStep(strings.Fields(arguments), done)
		switch {
		case err != nil:
			l.t.Fatalf("run %d of %s: %v", runs, line, err)
		case step == "":
			l.t.Logf("%s: complete after %d runs that were killed", strings.TrimSpace(line), runs-1)
			return out
		}
		done[step] = true
		if killed != nil {
			killed(step)
		}
	}
}

// runUntilStep runs kubectl-capz and kills it after the first step that is not the last one and at which no run was killed. It returns the
// step, or the output of a run that ended.
func (l *lab) runUntilStep(arguments []string, done map[string]bool) (step, out string, err error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	command := l.newCommand(ctx, "kubectl-capz", arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var result, messages bytes.Buffer
	command.Stdout = &result
	stderr, err := command.StderrPipe()
	if err != nil {
		return "", "", err
	}
	if err := command.Start(); err != nil {
		return "", "", err
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		messages.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "no manager ran") {
			l.t.Log(strings.TrimSpace(lines.Text()))
		}
		if found := stepLine.FindStringSubmatch(lines.Text()); found != nil && step == "" && found[1] != found[2] && !done[found[3]] {
			step = found[3]
			if err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); err != nil {
				return "", "", err
			}
		}
	}
	if err := command.Wait(); err != nil && step == "" {
		return "", "", fmt.Errorf("%w\n%s%s", err, messages.String(), result.String())
	}
	return step, result.String(), nil
}

// storedState is the content of the management cluster that a return restores: objects of the provider and of its operator, Clusters without
// status, and the conversions of definitions.
type storedState struct {
	objects     map[string]object
	conversions string
}

func (l *lab) readStored() storedState {
	l.t.Helper()
	types := []string{conditioned}
	for group, kinds := range operatorKinds {
		for _, kind := range kinds {
			types = append(types, strings.ToLower(kind)+"s."+operatorStored+"."+group+".azure.com")
		}
	}
	out := storedState{objects: map[string]object{}}
	add := func(list []*unstructured.Unstructured) {
		for _, o := range list {
			for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
				unstructured.RemoveNestedField(o.Object, "metadata", field)
			}
			if o.GetKind() == "Cluster" {
				delete(o.Object, "status") // Cluster API writes it.
			}
			out.objects[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o.Object
		}
	}
	add(l.listObjects(strings.Join(types, ",")))
	add(l.listObjects("clusters"))
	out.conversions = l.runProgram("kubectl", "get", "customresourcedefinitions", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.spec.conversion.strategy} {range .spec.versions[*]}{.name}={.served} {end}{"\n"}{end}`)
	return out
}

// listedDifferences are those of docs/design/migration.md between the objects before a move and after the return. The established provider
// computes the fields of the status anew.
var listedDifferences = regexp.MustCompile(`^(metadata\.annotations\.sigs\.k8s\.io/cluster-api-provider-azure-applied` +
	`|metadata\.annotations\.clusterctl\.cluster\.x-k8s\.io/block-move` +
	`|status\.(conditions|initialization|longRunningOperationStates|observedGeneration|resources|vmState|ready|` +
	`versions|instances|version|externalManagedControlPlane|capacity|initialized|replicas|providerIDs))$`)

// expectReturned expects the objects before the move, with the listed differences. Clusters are paused until the end of the return, and
// the others are changed again by the manager that it installs, so each are compared at their time.
func (l *lab) expectReturned(before, after storedState, clusters bool) {
	l.t.Helper()
	if was, is := slices.Sorted(maps.Keys(before.objects)), slices.Sorted(maps.Keys(after.objects)); !slices.Equal(was, is) {
		l.t.Errorf("objects before the move and after the return:\n%v\n%v", was, is)
	}
	differences := map[string]int{}
	for name, was := range before.objects {
		kind, _, _ := strings.Cut(name, " ")
		if (kind == "Cluster") != clusters {
			continue
		}
		for _, path := range differingFields("", was, after.objects[name], 0) {
			if !listedDifferences.MatchString(path) {
				l.t.Errorf("%s differs after the return in %s: %s became %s", name, path, encodeField(was, path), encodeField(after.objects[name], path))
			}
			differences[kind+" "+path]++
		}
	}
	if !clusters {
		l.t.Logf("%d objects returned, with these listed differences: %v", len(before.objects), differences)
	}
}

// differingFields returns the paths of fields that differ: those of metadata, spec and status, and single annotations.
func differingFields(path string, before, after any, depth int) []string {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	was, isObject := before.(object)
	is, isOtherObject := after.(object)
	if !isObject || !isOtherObject || depth > 1 && path != "metadata.annotations" {
		return []string{path}
	}
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differingFields(strings.TrimPrefix(path+"."+key, "."), was[key], is[key], depth+1)...)
	}
	return out
}

// encodeField returns the value of a field as JSON.
func encodeField(o object, path string) string {
	var value any = o
	for len(path) > 0 {
		in, is := value.(object)
		if !is {
			break
		}
		step, rest, _ := strings.Cut(path, ".")
		if _, has := in[step]; !has { // The name of an annotation has periods.
			step, rest = path, ""
		}
		value, path = in[step], rest
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
