package virtual

import (
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// WaitUntil waits until the condition holds, for an hour at most. describe returns the state that was found instead. If Hurry
// is set, it waits for the time that Hurry returns, whatever the condition.
func (s *Scenario) WaitUntil(what string, condition func() bool, describe ...func() string) {
	s.T.Helper()
	if s.Hurry == nil {
		s.waitPatiently(what, condition, describe...)
		return
	}
	for end := time.Now().Add(s.Hurry()); time.Now().Before(end); {
		WaitForSignal(s.Kubernetes.Changed, min(time.Second, time.Until(end)))
		if s.Meanwhile != nil {
			s.Meanwhile()
		}
	}
}

func (s *Scenario) waitPatiently(what string, condition func() bool, describe ...func() string) {
	s.T.Helper()
	for deadline := time.Now().Add(time.Hour); !condition(); {
		if time.Now().After(deadline) {
			for _, found := range describe {
				what += " " + found()
			}
			requests := s.Azure.RequestsSince(0)
			s.T.Fatalf("%s: not so after an hour\n%s", what, strings.Join(requests[max(0, len(requests)-30):], "\n"))
		}
		WaitForSignal(s.Kubernetes.Changed, time.Second)
		if s.Meanwhile != nil {
			s.Meanwhile()
		}
	}
}

// ObjectMatches returns a condition for WaitUntil: the object, as it is stored, is as wanted.
func ObjectMatches[T client.Object](s *Scenario, object T, name string, wanted func(T) bool) func() bool {
	return func() bool {
		s.ReadObject(object, name)
		return wanted(object)
	}
}

// WaitReady waits until an object is Ready.
func (s *Scenario) WaitReady(object harness.Conditioned, name string) {
	s.T.Helper()
	s.WaitUntil(fmt.Sprintf("%T %s is Ready", object, name), func() bool {
		s.ReadObject(object, name)
		return harness.IsReady(object)
	})
}
