import { useEffect, useState } from 'preact/hooks'
import { rowOf } from '../src/page/history.ts'
import type { HistoryRow, PageState, StreamEntry } from '../src/page/state.ts'

/** State of the page: the last answer of the node, and the past that the page keeps. */
export type Shown = {
  readonly last: PageState
  /** samples of the node, one every ten seconds */
  readonly history: readonly HistoryRow[]
  /** samples of this page, one each second */
  readonly live: readonly HistoryRow[]
  /** newest first */
  readonly stream: readonly StreamEntry[]
}

const everyMs = 1_000
const timeoutMs = 5_000
const maxHistory = 2_160
const maxLive = 600
const maxStream = 60

/** Adds an answer to the state. A node that was started again begins its rows and entries again. */
function joined(before: Shown | undefined, last: PageState): Shown {
  const known = before?.history ?? []
  return {
    last,
    history: [...known, ...last.history.rows].slice(-maxHistory),
    live: [...(before?.live ?? []), rowOf(last.sample)].slice(-maxLive),
    stream: [...last.stream.toReversed(), ...(before?.stream ?? [])].slice(0, maxStream),
  }
}

/** Returns the state of the node, read each second while the page is visible, and why the last reading failed. */
export function usePageState(): { readonly shown: Shown | undefined; readonly failure: string | undefined } {
  const [shown, setShown] = useState<Shown>()
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    let current: Shown | undefined
    let nextRow = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    async function read(): Promise<void> {
      const path = `/page/state?row=${nextRow}&entry=${current?.stream[0]?.seq ?? 0}`
      const response = await fetch(path, { signal: AbortSignal.timeout(timeoutMs) })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      const last = (await response.json()) as PageState
      const isRestarted = current !== undefined && last.startedMs !== current.last.startedMs
      // the answer lacks what the node had before the numbers of its earlier start: the next one has it
      current = isRestarted ? undefined : joined(current, last)
      nextRow = isRestarted ? 0 : last.history.from + last.history.rows.length
      if (current === undefined) return
      setShown(current)
      setFailure(undefined)
    }
    async function loop(): Promise<void> {
      if (!document.hidden) await read().catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)))
      if (!isOver) timer = setTimeout(loop, everyMs)
    }
    void loop()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [])
  return { shown, failure }
}
