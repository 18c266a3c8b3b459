// Measures client-go's work queue. Prints "name value" lines, the same as the Rust program beside it; see run.sh.
package main

import (
	"fmt"
	"runtime"
	"sort"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

func keys(from, count int) []string {
	keys := make([]string, count)
	for i := range keys {
		n := from + i
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", n%100, n)
	}
	return keys
}

func ints(from, count int) []uint64 {
	ints := make([]uint64, count)
	for i := range ints {
		ints[i] = uint64(from + i)
	}
	return ints
}

func perOp(began time.Time, ops int) float64 {
	return float64(time.Since(began).Nanoseconds()) / float64(ops)
}

func uncontended[T comparable](keys []T) float64 {
	queue := workqueue.NewTyped[T]()
	rounds := 2_000_000 / len(keys)
	began := time.Now()
	for range rounds {
		for _, key := range keys {
			queue.Add(key)
			item, _ := queue.Get()
			queue.Done(item)
		}
	}
	return perOp(began, rounds*len(keys))
}

func twoAndTwo[T comparable](one, two []T) float64 {
	queue := workqueue.NewTyped[T]()
	adds := len(one) + len(two)
	var consumers, producers sync.WaitGroup
	counts := make([]int, 2)
	for c := range counts {
		consumers.Go(func() {
			n := 0
			for {
				item, shutdown := queue.Get()
				if shutdown {
					break
				}
				n++
				queue.Done(item)
			}
			counts[c] = n
		})
	}
	began := time.Now()
	for _, keys := range [][]T{one, two} {
		producers.Go(func() {
			for _, key := range keys {
				queue.Add(key)
			}
		})
	}
	producers.Wait()
	queue.ShutDown()
	consumers.Wait()
	elapsed := perOp(began, adds)
	if counts[0]+counts[1] != adds {
		panic("items were lost")
	}
	return elapsed
}

func delayedAdds() float64 {
	queue := workqueue.NewTypedDelayingQueue[uint64]()
	defer queue.ShutDown()
	count := 1_000_000
	began := time.Now()
	for n := range uint64(count) {
		queue.AddAfter(n, time.Hour+time.Duration(n*2_654_435_761%1_000_000)*time.Millisecond)
	}
	return perOp(began, count)
}

func heap() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func delayedBytes(count int) float64 {
	before := heap()
	queue := workqueue.NewTypedDelayingQueue[uint64]()
	defer queue.ShutDown()
	for n := range uint64(count) {
		queue.AddAfter(n, time.Hour)
	}
	time.Sleep(100 * time.Millisecond) // the last ones are still in its channel
	return (heap()-before)/float64(count) - 8
}

func wakeUp() (float64, float64) {
	queue := workqueue.NewTypedDelayingQueue[uint64]()
	count := uint64(2000)
	began := time.Now()
	due := func(n uint64) time.Duration {
		return time.Duration(100_000+n*2_654_435_761%4_000_000) * time.Microsecond
	}
	late := make([]float64, 0, count)
	var getter sync.WaitGroup
	getter.Go(func() {
		for {
			item, shutdown := queue.Get()
			if shutdown {
				return
			}
			late = append(late, max(0, float64((time.Since(began)-due(item)).Nanoseconds())/1000))
			queue.Done(item)
		}
	})
	for n := range count {
		queue.AddAfter(n, due(n)-time.Since(began))
	}
	time.Sleep(4300 * time.Millisecond)
	queue.ShutDown()
	getter.Wait()
	if uint64(len(late)) != count {
		panic("items were lost")
	}
	sort.Float64s(late)
	return late[len(late)/2], late[len(late)*99/100]
}

func main() {
	fmt.Printf("uncontended_int_ns %.1f\n", uncontended(ints(0, 1000)))
	fmt.Printf("uncontended_string_ns %.1f\n", uncontended(keys(0, 1000)))
	fmt.Printf("two_and_two_int_ns %.1f\n", twoAndTwo(ints(0, 1_000_000), ints(1_000_000, 1_000_000)))
	fmt.Printf("two_and_two_string_ns %.1f\n", twoAndTwo(keys(0, 500_000), keys(500_000, 500_000)))
	fmt.Printf("delayed_add_ns %.1f\n", delayedAdds())
	fmt.Printf("delayed_bytes %.1f\n", delayedBytes(1_000_000))
	fmt.Printf("delayed_bytes_just_grown %.1f\n", delayedBytes(1<<20+1))
	median, p99 := wakeUp()
	fmt.Printf("wake_up_median_us %.0f\n", median)
	fmt.Printf("wake_up_p99_us %.0f\n", p99)
}
