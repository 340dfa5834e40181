package eventlog

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
)

const (
	// repeatTime is how long a repeated event is counted in the first one.
	repeatTime = 6 * time.Minute
	// maxNotes is how many events of an object that differ only in their notes are created within repeatTime.
	maxNotes = 10
	// writers is the number of requests at a time. The events of one object have one writer, so they are written in order.
	writers = 4
	// maxQueued is how many events wait for a writer. More are dropped, as when the API server does not answer.
	maxQueued = 500
	// maxTries and retryInterval bound the attempts to write an event that the API server did not answer.
	maxTries      = 12
	retryInterval = 10 * time.Second
	// flushTime is how long events are written after the manager was stopped.
	flushTime = 3 * time.Second
	// maxNamePrefix bounds the part of an event's name that is the name of its object.
	maxNamePrefix = 200
)

// Sender writes events to the API server. It keeps a hash and a time of each event for repeatTime, and not the event, as client-go's
// broadcaster does: that cost a sixth of the memory of a new machine. An event that repeats is counted in the first one, like there. Unlike
// there, an event with another note is another event.
type Sender struct {
	options SenderOptions
	queues  [writers]chan *eventsv1.Event
	dropped atomic.Int64
	seed    maphash.Seed

	mu   sync.Mutex
	sent map[uint64]sentEvent
}

// SenderOptions are the options of a Sender.
type SenderOptions struct {
	Events eventsclient.EventsGetter
	Scheme *runtime.Scheme
	Log    logr.Logger
	// Host is a part of the reporting instance of events.
	Host string
	Now  func() time.Time
}

// sentEvent is the last created one of the events that differ only in their notes.
type sentEvent struct {
	note uint64
	// created is its time in nanoseconds, from which its name is made.
	created int64
	// notes is how many of the events were created one after another in less than repeatTime.
	notes int
	// repeats is set if it repeated.
	repeats *repeats
}

// repeats counts an event.
type repeats struct {
	namespace, name string
	count, written  int32
	last            time.Time
}

// NewSender returns a Sender. It writes nothing before Start is called.
func NewSender(options SenderOptions) *Sender {
	s := &Sender{options: options, seed: maphash.MakeSeed(), sent: map[uint64]sentEvent{}}
	for i := range s.queues {
		s.queues[i] = make(chan *eventsv1.Event, maxQueued)
	}
	return s
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. Runnables without leader election are stopped after the controllers, whose
// last events are still written.
func (s *Sender) NeedLeaderElection() bool { return false }

// Start writes events until ctx ends, and then the waiting ones for a moment.
func (s *Sender) Start(ctx context.Context) error {
	var working sync.WaitGroup
	for _, queue := range s.queues {
		working.Go(func() { s.writeQueue(ctx, queue) })
	}
	ticker := time.NewTicker(repeatTime)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			s.finishRepeats(ctx)
		}
	}
	working.Wait()
	return nil
}

// writeQueue writes events until ctx ends, and then those that wait, for flushTime.
func (s *Sender) writeQueue(ctx context.Context, queue chan *eventsv1.Event) {
	writing, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, end) })()
	for {
		select {
		case event := <-queue:
			s.write(writing, event)
		case <-ctx.Done():
			if len(queue) == 0 {
				return
			}
		}
	}
}

// Recorder returns the recorder of a controller with this name. It does not block.
func (s *Sender) Recorder(controller string) events.EventRecorder {
	return senderRecorder{s, controller}
}

type senderRecorder struct {
	sender     *Sender
	controller string
}

// Eventf implements events.EventRecorder.
func (r senderRecorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	s := r.sender
	about, err := reference.GetReference(s.options.Scheme, regarding)
	if err != nil {
		s.options.Log.Error(err, "An event has no reference to its object", "reason", reason)
		return
	}
	now := s.options.Now()
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: eventName(about.Name, now.UnixNano())},
		EventTime:  metav1.MicroTime{Time: now}, ReportingController: r.controller, ReportingInstance: r.controller + "-" + s.options.Host,
		Action: action, Reason: reason, Regarding: *about, Note: fmt.Sprintf(note, args...), Type: eventType,
	}
	if event.Namespace == "" {
		event.Namespace = metav1.NamespaceDefault
	}
	if related != nil {
		if event.Related, err = reference.GetReference(s.options.Scheme, related); err != nil {
			event.Related = nil
		}
	}
	s.options.Log.V(1).Info("Event occurred", "object", about.Namespace+"/"+about.Name, "kind", about.Kind, "type", eventType, "reason", reason,
		"note", event.Note)
	select {
	case s.queues[maphash.String(s.seed, string(about.UID)+about.Name)%writers] <- event:
	default:
		s.dropped.Add(1)
	}
}

// eventName returns the name of an event about an object with this name.
func eventName(object string, created int64) string {
	return fmt.Sprintf("%s.%x", strings.TrimRight(object[:min(len(object), maxNamePrefix)], ".-"), created)
}

// write writes an event or counts it.
func (s *Sender) write(ctx context.Context, event *eventsv1.Event) {
	key, repeated := s.countEvent(event)
	if repeated == nil {
		s.create(ctx, event)
		return
	}
	if repeated.written > 0 {
		return // Further ones are counted until finishRepeats.
	}
	if s.writeCount(ctx, key, *repeated) {
		// The first event was deleted. This one takes its place.
		s.mu.Lock()
		delete(s.sent, key)
		s.mu.Unlock()
		s.countEvent(event)
		s.create(ctx, event)
	}
}

// countEvent returns the key of an event. If the event repeats an earlier one, it also returns the name of that event and how often it
// occurred. Otherwise it stores the key, the time and the hash of the note, so that later repetitions are recognized.
func (s *Sender) countEvent(event *eventsv1.Event) (key uint64, repeated *repeats) {
	key = s.hash(event.Type, event.Action, event.Reason, event.ReportingController, describeReference(&event.Regarding), describeReference(event.Related))
	note, at := s.hash(event.Note), event.EventTime.UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	was, known := s.sent[key]
	recent := known && at-was.created < int64(repeatTime)
	if is := (sentEvent{note: note, created: at, notes: 1}); !known || was.note != note && (!recent || was.notes < maxNotes) {
		if recent {
			is.notes += was.notes
		}
		s.sent[key] = is
		return key, nil
	}
	if was.repeats == nil {
		was.repeats = &repeats{namespace: event.Namespace, name: eventName(event.Regarding.Name, was.created), count: 1}
		s.sent[key] = was
	}
	was.repeats.count, was.repeats.last = was.repeats.count+1, event.EventTime.Time
	out := *was.repeats
	return key, &out
}

func (s *Sender) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, part := range parts {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// describeReference returns a reference as text.
func describeReference(of *corev1.ObjectReference) string {
	if of == nil {
		return ""
	}
	return strings.Join([]string{of.APIVersion, of.Kind, of.Namespace, of.Name, string(of.UID), of.FieldPath}, "\x00")
}

// finishRepeats writes counts that grew, and forgets events that did not repeat for repeatTime.
func (s *Sender) finishRepeats(ctx context.Context) {
	if dropped := s.dropped.Swap(0); dropped > 0 {
		s.options.Log.Info("Events were dropped because the API server did not take them in time", "count", dropped)
	}
	oldest, grown := s.options.Now().Add(-repeatTime), map[uint64]repeats{}
	s.mu.Lock()
	for key, event := range s.sent {
		last := time.Unix(0, event.created)
		if event.repeats != nil {
			last = event.repeats.last
			if event.repeats.count > event.repeats.written {
				grown[key] = *event.repeats
			}
		}
		if last.Before(oldest) {
			delete(s.sent, key)
		}
	}
	s.sent = maps.Clone(s.sent) // A map keeps the space of removed entries.
	s.mu.Unlock()
	for key, count := range grown {
		s.writeCount(ctx, key, count)
	}
}

// create creates an event.
func (s *Sender) create(ctx context.Context, event *eventsv1.Event) {
	s.try(ctx, event.Reason, func() error {
		_, err := s.options.Events.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil // An attempt without an answer has created it.
		}
		return err
	})
}

// writeCount writes the count of an event, and reports whether the event does not exist any more.
func (s *Sender) writeCount(ctx context.Context, key uint64, of repeats) (gone bool) {
	patch := fmt.Appendf(nil, `{"series":{"count":%d,"lastObservedTime":%q}}`, of.count, of.last.UTC().Format(metav1.RFC3339Micro))
	s.try(ctx, of.name, func() error {
		_, err := s.options.Events.Events(of.namespace).Patch(ctx, of.name, types.MergePatchType, patch, metav1.PatchOptions{})
		if gone = apierrors.IsNotFound(err); gone {
			return nil
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if is := s.sent[key].repeats; is != nil && is.name == of.name {
		is.written = of.count
	}
	return gone
}

// try sends a request, and sends it again if the API server did not answer.
func (s *Sender) try(ctx context.Context, what string, send func() error) {
	for tries := 1; ; tries++ {
		err := send()
		if err == nil || ctx.Err() != nil {
			return
		}
		if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && !apierrors.IsServerTimeout(err) && !apierrors.IsTimeout(err) &&
			!apierrors.IsServiceUnavailable(err) && !apierrors.IsTooManyRequests(err) || tries == maxTries {
			s.options.Log.Info("An event was not written", "event", what, "cause", err.Error())
			return
		}
		timer := time.NewTimer(retryInterval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}
