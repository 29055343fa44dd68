import { createWriteStream, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Operator, ProfileKind, ProfileState } from '#rpc/ports'
import { freeIn } from '../health/health.ts'
import type { NodeOptions } from '../nodeOptions.ts'
import { masked, maskedStream } from './masked.ts'
import { type Target, watchTargets } from './targets.ts'

/** Heap beyond which no snapshot is taken: its thread would be stopped for so long that it counts as stuck. */
const maxSnapshotHeapBytes = 300_000_000
/** Largest file. */
const maxFileBytes = 1_000_000_000
/** Files in the folder; older ones are removed. */
const maxFiles = 10

const extensions = { cpu: 'cpuprofile', heap: 'heapprofile', snapshot: 'heapsnapshot' } as const satisfies Record<ProfileKind, string>
const ownFile = /^\d{8}T\d{6}Z-[\w-]+\.(?:cpuprofile|heapprofile|heapsnapshot)$/

export type ProfilesDeps = {
  readonly clock: Clock
  readonly log: Log
  /** texts that are replaced; read again for each file */
  readonly secrets?: Iterable<string>
}
export type ProfilesOptions = Pick<NodeOptions, 'datadir' | 'minFreeBytes'>

/** Removes the oldest files so that another one fits. */
function removeOldest(dir: string): void {
  const files = readdirSync(dir).filter((name) => ownFile.test(name))
  for (const name of files.toSorted().slice(0, Math.max(0, files.length - maxFiles + 1))) rmSync(join(dir, name))
}

/**
 * Takes profiles of threads of this process, one at a time, into files of the data directory that this user alone may read. Known secrets are replaced in
 * them. Disposing ends a profile that is taken.
 */
export function createProfiles(
  { clock, log, secrets = [] }: ProfilesDeps,
  { datadir, minFreeBytes }: ProfilesOptions,
): Operator['profiles'] & Disposable {
  const targets = watchTargets()
  const ending = new AbortController()
  const dir = join(datadir, 'profiles')
  let state: ProfileState | undefined

  async function refusalOf(kind: ProfileKind, target: Target): Promise<string | undefined> {
    const free = freeIn(datadir)
    const heapBytes = kind === 'snapshot' ? await target.heapBytes() : 0
    if (heapBytes > maxSnapshotHeapBytes)
      return `its heap has ${heapBytes} bytes, and a snapshot of more than ${maxSnapshotHeapBytes} stops it for too long; take a profile of kind heap`
    // a snapshot takes up to twice the bytes of its heap
    return free !== undefined && free < minFreeBytes + 2 * heapBytes ? `only ${free} bytes of the disk are free` : undefined
  }

  async function textOf(kind: 'cpu' | 'heap', target: Target, seconds: number): Promise<Readable> {
    const running = await target[kind]()
    await clock.delay(seconds * 1_000, ending.signal).catch(() => {}) // at the end of the node with the samples so far
    return Readable.from([masked(await running.stop(), [...secrets])])
  }

  async function take(kind: ProfileKind, target: Target, file: string, seconds: number): Promise<number> {
    const content = kind === 'snapshot' ? await target.snapshot() : await textOf(kind, target, seconds)
    try {
      await pipeline(
        content,
        maskedStream(kind === 'snapshot' ? [...secrets] : [], maxFileBytes),
        createWriteStream(file, { flags: 'wx', mode: 0o600 }),
      )
    } catch (error) {
      rmSync(file, { force: true })
      throw error
    }
    return statSync(file).size
  }

  async function run(kind: ProfileKind, target: Target, begun: ProfileState, seconds: number): Promise<void> {
    try {
      const bytes = await take(kind, target, begun.file, seconds)
      state = { ...begun, state: 'done', bytes }
      log.info('profile written', { kind, thread: begun.thread, file: begun.file, bytes })
    } catch (error) {
      state = { ...begun, state: 'failed', reason: errorMessage(error) }
      log.warn('profile not written', { kind, thread: begun.thread, error })
    }
  }

  return {
    threads: () => targets.names(),
    state: () => state,
    async start(kind, thread, seconds): ReturnType<Operator['profiles']['start']> {
      if (state?.state === 'running') return { kind: 'refused', reason: `a profile of ${state.thread} is being taken` }
      const target = targets.find(thread)
      if (target === undefined)
        return { kind: 'refused', reason: `no thread ${JSON.stringify(thread)}; known: ${targets.names().join(', ')}` }
      // biome-ignore lint/style/noRestrictedGlobals: formats a time of the clock
      const time = new Date(clock.nowMs()).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
      const begun: ProfileState = { state: 'running', kind, thread, file: join(dir, `${time}-${thread}.${extensions[kind]}`) }
      const before = state
      state = begun
      try {
        const refusal = await refusalOf(kind, target)
        if (refusal !== undefined) {
          state = before
          return { kind: 'refused', reason: refusal }
        }
        mkdirSync(dir, { recursive: true, mode: 0o700 })
        removeOldest(dir)
      } catch (error) {
        state = before
        return { kind: 'refused', reason: errorMessage(error) }
      }
      log.info('profile begun', { kind, thread, seconds })
      void run(kind, target, begun, seconds)
      return { kind: 'done', value: begun }
    },
    [Symbol.dispose](): void {
      ending.abort()
      targets[Symbol.dispose]()
    },
  }
}
