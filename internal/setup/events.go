package setup

import (
	"os"
	"time"

	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
)

// startEvents returns the event recorders of controllers. The manager's own keep each event for minutes; see eventlog.Sender.
func (o *Options) startEvents(mgr ctrl.Manager) (func(name string) events.EventRecorder, error) {
	if o.Plan != nil {
		return mgr.GetEventRecorder, nil // A plan collects the events and writes none.
	}
	writer, err := eventsclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	sender := eventlog.NewSender(eventlog.SenderOptions{Events: writer, Scheme: mgr.GetScheme(), Log: mgr.GetLogger().WithName("events"), Host: host,
		Now: time.Now})
	return sender.Recorder, mgr.Add(sender)
}
