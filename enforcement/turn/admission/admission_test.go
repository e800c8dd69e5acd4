package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/schemas"
)

const patience = time.Second

func isOverloaded(err error) bool {
	var f schemas.Fault
	return errors.As(err, &f) && f.Code() == schemas.CodeOverloaded
}

// floods has hooks of a session come one after the other, and returns what becomes
// of each; those that get a place keep it until it is asked for.
func floods(t *testing.T, a *Queue, session string, n int, leave <-chan struct{}) (entered, refused func() int) {
	t.Helper()
	var mu sync.Mutex
	in, out := 0, 0
	for range n {
		go func() {
			left, err := a.Enter(t.Context(), session)
			mu.Lock()
			if err != nil {
				out++
			} else {
				in++
			}
			mu.Unlock()
			switch {
			case err == nil:
				<-leave
				left()
			case !isOverloaded(err):
				t.Error(err)
			}
		}()
		synctest.Wait()
	}
	count := func(n *int) func() int {
		return func() int { synctest.Wait(); mu.Lock(); defer mu.Unlock(); return *n }
	}
	return count(&in), count(&out)
}

func (a *Queue) idle(t *testing.T) {
	t.Helper()
	if a.busy != 0 || a.waiting != 0 || a.bytes != 0 || len(a.lanes) != 0 || len(a.turns) != 0 {
		t.Errorf("left: busy %d, waiting %d, %d bytes, %d lanes, %d turns", a.busy, a.waiting, a.bytes, len(a.lanes), len(a.turns))
	}
}

// TestFloodOfOneSession takes its own places and no other's, and what is too much
// is refused at once.
func TestFloodOfOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, leave := New(patience), make(chan struct{})
		began := time.Now()
		entered, refused := floods(t, a, "flood", mostBusyOfOne+mostWaitingOfOne+7, leave)
		if entered() != mostBusyOfOne || refused() != 7 {
			t.Errorf("%d entered, %d were refused", entered(), refused())
		}
		left, err := a.Enter(t.Context(), "honest")
		if err != nil || !time.Now().Equal(began) {
			t.Fatalf("another session waited %s: %v", time.Since(began), err)
		}
		left()
		time.Sleep(patience)
		if refused() != 7+mostWaitingOfOne {
			t.Errorf("%d were refused after their patience", refused())
		}
		close(leave)
		synctest.Wait()
		a.idle(t)
	})
}

// TestSessionsTakeTurns: where all places are taken, the next one is of the session
// that has waited for one, and not of those that had more before.
func TestSessionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, leave := New(patience), make(chan struct{})
		const sessions = mostBusy / mostBusyOfOne
		for i := range sessions {
			floods(t, a, fmt.Sprint("flood-", i), mostBusyOfOne+20, leave)
		}
		honest, _ := floods(t, a, "honest", 1, leave)
		if honest() != 0 {
			t.Fatal("there is a place too many")
		}
		for n := range sessions + 1 {
			if honest() == 1 {
				t.Logf("after %d of others", n)
				break
			}
			leave <- struct{}{}
		}
		if honest() != 1 {
			t.Errorf("its turn did not come within %d of others", sessions+1)
		}
		close(leave)
		synctest.Wait()
		a.idle(t)
	})
}

// TestManyFloodsLeaveRoom: a session that has nothing waiting gets a place to wait
// from the one that has most.
func TestManyFloodsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, leave := New(patience), make(chan struct{})
		var refused []func() int
		for i := range mostBusy / mostBusyOfOne {
			_, out := floods(t, a, fmt.Sprint("flood-", i), mostBusyOfOne+mostWaitingOfOne, leave)
			refused = append(refused, out)
		}
		if a.waiting != mostWaiting {
			t.Fatalf("%d wait", a.waiting)
		}
		all := func() (n int) {
			for _, out := range refused {
				n += out()
			}
			return n
		}
		before := all()
		_, honest := floods(t, a, "honest", 1, leave)
		if honest() != 0 || all() != before+1 || a.waiting != mostWaiting {
			t.Errorf("honest refused: %d, others %d, waiting %d", honest(), all()-before, a.waiting)
		}
		close(leave)
		synctest.Wait()
		a.idle(t)
	})
}

// TestPayloadsAreBounded together, and one that is larger than all is taken alone.
func TestPayloadsAreBounded(t *testing.T) {
	a := New(patience)
	large, err := a.Hold(mostBytes + 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Hold(1); !isOverloaded(err) {
		t.Errorf("got %v", err)
	}
	large()
	small, err := a.Hold(1)
	if err != nil {
		t.Fatal(err)
	}
	small()
	a.idle(t)
}

// TestAdmissionForgets whatever hooks come, wait, give up and leave.
func TestAdmissionForgets(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	synctest.Test(t, func(t *testing.T) {
		a := New(patience)
		for range 3000 {
			session, budget, works := fmt.Sprint(random.IntN(12)), time.Duration(random.IntN(2000))*time.Millisecond, time.Duration(random.IntN(300))*time.Millisecond
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), budget)
				defer cancel()
				leave, err := a.Enter(ctx, session)
				if err != nil {
					return
				}
				time.Sleep(works)
				leave()
			}()
			time.Sleep(time.Duration(random.IntN(4)) * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		a.idle(t)
	})
}
