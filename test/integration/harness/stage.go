package harness

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// Patience is the time limit of a stage's waits. It only ends tests that would hang: nothing takes a twentieth of it on an idle
// machine, and a busy one is no reason to fail.
const Patience = 8 * time.Minute

// IdentityName is the name of the stage's AzureClusterIdentity, and of the Secret with its client secret.
const IdentityName = "identity"

// Stage is the private environment of one test: a namespace, a simulated Azure, and the managers it starts.
type Stage struct {
	T           testing.TB
	Environment *Environment
	Client      client.WithWatch
	Namespace   string
	Azure       *Simulator
	// Meanwhile is called again and again while something is waited for in virtual time; nil is not called.
	Meanwhile func()

	clock clock
	// virtual is set in a bubble of virtual time.
	virtual bool
	// recorded are the events of managers in virtual time.
	recorded *recordedEvents
	// logged is how many lines were logged before the stage.
	logged int
	// secrets are values that must not show up anywhere.
	secrets []string
}

// NewStage makes a namespace and a simulator in which operations end at once. There is no manager and no identity yet.
func NewStage(t testing.TB, environment *Environment) *Stage {
	t.Helper()
	return NewSlowStage(t, environment, 0)
}

// NewSlowStage is NewStage in which Azure's operations take timeScale times as long as on Azure.
func NewSlowStage(t testing.TB, environment *Environment, timeScale float64) *Stage {
	t.Helper()
	// Limits are measured elsewhere; at a time scale they would be those of a slow Azure.
	return newStage(t, environment, timeScale, Unlimited, false)
}

// Unlimited are limits that no test reaches.
var Unlimited = &server.Throttle{Reads: 1e6, Writes: 1e6, Deletes: 1e6, ReadsPerSec: 1e6, WritesPerSec: 1e6, DeletesPerSec: 1e6}

// NewGuardedStage is NewStage in which the provider has only the rights in Azure that Azure.Grant gives it.
func NewGuardedStage(t testing.TB, environment *Environment) *Stage {
	t.Helper()
	return newStage(t, environment, 0, Unlimited, true)
}

// NewRealStage is NewStage in which Azure's operations take as long as on Azure, and requests are limited as there.
func NewRealStage(t testing.TB, environment *Environment) *Stage {
	t.Helper()
	return newStage(t, environment, 1, &server.AzureThrottle, false)
}

func newStage(t testing.TB, environment *Environment, timeScale float64, throttle *server.Throttle, guarded bool) *Stage {
	t.Helper()
	s := &Stage{
		T: t, Environment: environment, Client: environment.Client, Namespace: "stage-" + uuid.NewString()[:8],
		logged: environment.Logs.CountLines(),
	}
	s.Azure = newSimulator(t, s.NewSecretValue("client-secret"), s.NewSecretValue("other-secret"), timeScale, throttle, guarded)
	s.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}})
	// Cleanups run last in, first out: this one comes after the managers are stopped.
	t.Cleanup(func() {
		s.CheckSecrets()
		if t.Failed() {
			s.logDiagnosis()
		}
	})
	return s
}

// InOtherCluster returns the namespace of the same name in another management cluster in front of the same Azure, as that which clusterctl
// moves a cluster to.
func (s *Stage) InOtherCluster() *Stage {
	s.T.Helper()
	other, err := s.Environment.startOther()
	if err != nil {
		s.T.Fatal(err)
	}
	return s.newStageIn(s.T, other, s.Namespace)
}

// InOtherNamespace is another namespace in the same management cluster in front of the same Azure, as that of another tenant.
func (s *Stage) InOtherNamespace() *Stage {
	s.T.Helper()
	return s.InOtherNamespaceFor(s.T)
}

// InOtherNamespaceFor is Beside for another test, as a subtest.
func (s *Stage) InOtherNamespaceFor(t testing.TB) *Stage {
	t.Helper()
	return s.newStageIn(t, s.Environment, "stage-"+uuid.NewString()[:8])
}

func (s *Stage) newStageIn(t testing.TB, environment *Environment, namespace string) *Stage {
	t.Helper()
	other := &Stage{T: t, Environment: environment, Client: environment.Client, Namespace: namespace, Azure: s.Azure, secrets: s.secrets,
		logged: s.logged}
	other.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other.Namespace}})
	t.Cleanup(other.CheckSecrets)
	return other
}

// NewSecretValue makes a value that must not show up in logs, conditions, events and request logs. Every stage checks that when
// its test ends.
func (s *Stage) NewSecretValue(name string) string {
	value := name + "-" + secretMarker + "-" + uuid.NewString()
	s.secrets = append(s.secrets, value)
	return value
}

// GuardEncoded adds the base64 of data, which contains a value of NewSecretValue, to the values that must not show up, and returns it.
func (s *Stage) GuardEncoded(data string) string {
	encoded := base64.StdEncoding.EncodeToString([]byte(data))
	s.secrets = append(s.secrets, encoded)
	return encoded
}

// patience returns the time limit of the stage's waits.
func (s *Stage) patience() time.Duration {
	if s.virtual {
		return virtualPatience
	}
	return Patience
}

// withPatience ends when the stage's patience does.
func (s *Stage) withPatience() (context.Context, context.CancelFunc) {
	// Not the test's own context: cleanups use it, too.
	return context.WithTimeout(context.Background(), s.patience())
}

// CreateObject makes an object.
func (s *Stage) CreateObject(object client.Object) {
	s.T.Helper()
	if err := s.TryCreate(object); err != nil {
		s.T.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

// TryCreate creates an object and returns the API server's error.
func (s *Stage) TryCreate(object client.Object) error {
	ctx, cancel := s.withPatience()
	defer cancel()
	return s.Client.Create(ctx, object)
}

// ReadObject reads an object of the stage's namespace into object.
func (s *Stage) ReadObject(object client.Object, name string) {
	s.T.Helper()
	ctx, cancel := s.withPatience()
	defer cancel()
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, object); err != nil {
		s.T.Fatalf("get %T %s: %v", object, name, err)
	}
}

// ChangeObject reads object, which has to have a name, changes it and patches the API server's.
func ChangeObject[T client.Object](s *Stage, object T, change func(T)) {
	s.T.Helper()
	if err := TryChange(s, object, change); err != nil {
		s.T.Fatalf("change %T %s: %v", object, object.GetName(), err)
	}
}

// TryChange is ChangeObject that returns the API server's error.
func TryChange[T client.Object](s *Stage, object T, change func(T)) error {
	s.T.Helper()
	s.ReadObject(object, object.GetName())
	before := object.DeepCopyObject().(client.Object)
	change(object)
	ctx, cancel := s.withPatience()
	defer cancel()
	return s.Client.Patch(ctx, object, client.MergeFrom(before))
}

// ChangeStatus is Change for the status.
func ChangeStatus[T client.Object](s *Stage, object T, change func(T)) {
	s.T.Helper()
	s.ReadObject(object, object.GetName())
	before := object.DeepCopyObject().(client.Object)
	change(object)
	ctx, cancel := s.withPatience()
	defer cancel()
	if err := s.Client.Status().Patch(ctx, object, client.MergeFrom(before)); err != nil {
		s.T.Fatalf("change the status of %T %s: %v", object, object.GetName(), err)
	}
}

// often is the polling interval of a condition without events. Each poll sends requests to the API server or the simulator, for all
// tests that run side by side.
const often = 150 * time.Millisecond

// Eventually waits until the condition holds.
func (s *Stage) Eventually(what string, condition func() bool) {
	s.T.Helper()
	ctx, cancel := s.withPatience()
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, often, true, func(context.Context) (bool, error) {
		s.actMeanwhile()
		return condition(), nil
	})
	if err != nil {
		s.T.Fatalf("%s: not so after %s", what, s.patience())
	}
}

// EncodeStatus returns the status of an object as JSON.
func EncodeStatus(object client.Object) string {
	raw, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	var parsed struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return err.Error()
	}
	return string(parsed.Status)
}

// logDiagnosis prints information that helps to find the cause of a test's failure.
func (s *Stage) logDiagnosis() {
	// Client libraries log too much detail to be useful here.
	lines := slices.DeleteFunc(s.Environment.Logs.LinesContaining(s.Namespace), func(line string) bool {
		return !strings.Contains(line, `"level"=0`) && strings.Contains(line, `"level"=`)
	})
	lines = slices.Clone(lines[max(0, len(lines)-30):])
	for i, line := range lines {
		lines[i] = line[:min(len(line), 300)]
	}
	s.T.Logf("last log lines of %s:\n%s", s.Namespace, strings.Join(lines, "\n"))
	requests := s.Azure.RequestsSince(0)
	all := len(requests)
	// Polls follow each other by the dozen.
	requests = slices.Compact(requests)
	s.T.Logf("last requests of %d:\n%s", all, strings.Join(requests[max(0, len(requests)-60):], "\n"))
	s.T.Logf("resources:\n%s", strings.Join(s.Azure.ListResources(), "\n"))
}

// WakeControllers makes the controllers of an object reconcile it, as any change of it does. An object that is gone meanwhile is no
// error: its deletion woke them.
func (s *Stage) WakeControllers(object client.Object) {
	s.T.Helper()
	ctx, cancel := s.withPatience()
	defer cancel()
	object.SetNamespace(s.Namespace)
	patch := client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{"integration-test/woken":%q}}}`, uuid.NewString()))
	if err := client.IgnoreNotFound(s.Client.Patch(ctx, object, patch)); err != nil {
		s.T.Fatalf("wake %T %s: %v", object, object.GetName(), err)
	}
}
