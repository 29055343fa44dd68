import type { Clock } from '#lib/clock'

/** Time-limited fault. Another `begin` may extend it, never shorten it. */
export interface TimedFault extends AsyncDisposable {
  readonly isOn: boolean
  /** Begins the fault. @returns when it has begun; it ends by itself */
  begin(seconds: number): Promise<void>
  /** Ends it now, if it is active. */
  end(): Promise<void>
}

/** Creates a time-limited fault. @param parts `end` is called once after a successful `begin` */
export function createTimedFault(clock: Clock, parts: { begin(): Promise<void>; end(): Promise<void> }): TimedFault {
  let untilMs = 0
  let timer: Disposable | undefined
  let isOn = false
  /** runs one change after the other */
  let changing: Promise<void> = Promise.resolve()

  const change = (make: () => Promise<void>): Promise<void> => {
    const done = changing.then(make)
    changing = done.catch(() => {})
    return done
  }
  const stop = async (): Promise<void> => {
    timer?.[Symbol.dispose]()
    timer = undefined
    if (!isOn) return
    isOn = false
    await parts.end()
  }
  const watch = (): void => {
    timer?.[Symbol.dispose]()
    timer = clock.after(Math.max(0, untilMs - clock.elapsedMs()), () => void change(stop).catch(() => {}))
  }
  return {
    get isOn(): boolean {
      return isOn
    },
    begin: (seconds) =>
      change(async () => {
        untilMs = Math.max(isOn ? untilMs : 0, clock.elapsedMs() + seconds * 1_000)
        if (!isOn) await parts.begin()
        isOn = true
        watch()
      }),
    end: () => change(stop),
    [Symbol.asyncDispose]: () => change(stop),
  }
}
