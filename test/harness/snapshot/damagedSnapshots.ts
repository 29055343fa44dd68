import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readHeads } from '#blockchain/chainStore'
import type { RecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import { hasValues } from '#snapshot/format/manifest'
import { restoreSnapshot } from '#snapshot/restore/restoreSnapshot'
import { readLoadMark } from '#state/loadMark'
import { openChainKv } from '#store/chainTables'
import { executeRecorded, type RecordedState } from './loadRecorded.ts'
import { type Files, fetchFrom, filesIn, hastyClock } from './memoryPlace.ts'
import { executeInto, Folders, smallSizes } from './recordedDatadir.ts'
import { damageOf, refusals, type SoundSnapshot } from './snapshotDamage.ts'
import { requireExecuted, requireHistory, requireOnlyExecuted, requireOnlyHistory } from './stateRowSets.ts'

const name = 'op-ecotone-to-jovian'
const base = 12
const { signal } = new AbortController()

/** A snapshot of a recorded chain, which is damaged, restored, and restored again from its sound files. */
export class DamagedSnapshots implements Disposable {
  readonly #folders: Folders
  readonly #chain: RecordedChain
  readonly #sound: SoundSnapshot
  readonly #executed: RecordedState

  constructor(folders: Folders, sound: SoundSnapshot, executed: RecordedState) {
    this.#folders = folders
    this.#chain = executed.chain
    this.#sound = sound
    this.#executed = executed
  }

  static async make(flavour: 'minimal' | 'archive' = 'minimal'): Promise<DamagedSnapshots> {
    const folders = new Folders()
    const create = async (finalized: number) => {
      const [datadir, out] = [folders.make(), folders.make()]
      const { config } = await executeInto(datadir, name, finalized + 2, finalized)
      const options = { chainDir: join(datadir, 'chain'), out, config, flavour, key: folders.key, sizes: smallSizes, historyBlocks: 2 }
      const created = await createSnapshot({ signal, onProgress: () => {} }, options)
      if (created === undefined) throw new Error('no snapshot')
      return { manifest: created.manifest, files: filesIn(out) }
    }
    const older = await create(base - 4)
    const { manifest, files } = await create(base)
    return new DamagedSnapshots(folders, { manifest, files, older: older.files, key: folders.key }, await executeRecorded(name, base))
  }

  /** Restores a damaged snapshot, then the sound one. @returns the code of the fault, or `harmless` */
  async judge(seed: number): Promise<string> {
    const datadir = this.#folders.make()
    const damage = await damageOf(this.#sound, seed)
    const outcome: unknown = await this.#restore(datadir, damage.files).catch((error: unknown) => error)
    if (isFault(outcome)) {
      if (!refusals.includes(outcome.code)) throw outcome
      await this.#requireUnopened(datadir)
      // a signer who lies is left for another snapshot, as the fault says
      if (damage.place === 'signer') rmSync(datadir, { recursive: true })
      await this.#restore(datadir, this.#sound.files)
    } else if (outcome instanceof Error) throw outcome
    await using kv = openChainKv(join(datadir, 'chain'))
    using found = kv.snapshot()
    using expected = this.#executed.kv.snapshot()
    requireExecuted(found, expected)
    if (hasValues(this.#sound.manifest)) requireHistory(found, expected, isFault(outcome) ? 0 : damage.oldestState)
    await kv[Symbol.asyncDispose]()
    rmSync(datadir, { recursive: true })
    return isFault(outcome) ? outcome.code : 'harmless'
  }

  #restore(datadir: string, files: Files): ReturnType<typeof restoreSnapshot> {
    const { config } = this.#chain
    const deps = { clock: hastyClock(systemClock), fetch: fetchFrom(files), signal, onProgress: () => {} }
    const given = this.#sound.manifest.block.hash
    return restoreSnapshot(deps, { from: 'http://mirror.example/snapshot', config, given, datadir, command: 'again' })
  }

  /** After a refused restore no node opens the chain, and its rows are those of the executed one. */
  async #requireUnopened(datadir: string): Promise<void> {
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    using expected = this.#executed.kv.snapshot()
    if (readHeads(reader) !== undefined && readLoadMark(reader) === undefined) throw new Error('a chain begins with a damaged snapshot')
    requireOnlyExecuted(reader, expected)
    requireOnlyHistory(reader, expected)
  }

  [Symbol.dispose](): void {
    this.#folders[Symbol.dispose]()
  }
}
