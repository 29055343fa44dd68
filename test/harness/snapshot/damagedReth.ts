import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readHeads } from '#blockchain/chainStore'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { importReth } from '#snapshot/reth/importReth'
import { openChainKv } from '#store/chainTables'
import { dice } from '../dice.ts'
import { executeRecorded, givenBlocks, type RecordedState } from './loadRecorded.ts'
import { type Files, fetchFrom, hastyClock } from './memoryPlace.ts'
import { Folders } from './recordedDatadir.ts'
import { type RethFiles, rethDamageOf, rethFilesOf, rethNames } from './rethFiles.ts'
import { requireExecuted } from './stateRowSets.ts'

const name = 'op-ecotone-to-jovian'
const head = 171
const { signal } = new AbortController()
const refusals =
  /^(SNAPSHOT_(FILE_DAMAGED|FILE_MISSING|FORMAT_UNSUPPORTED|UNREACHABLE|CHANGED|CHAIN_ID|UNTRUSTED|NO_ROOM)|STATE_UNSORTED|STATE_ROOT_WRONG|BASE_BLOCK_REFUSED)$/

/** A snapshot of the other client, which is damaged, imported, and imported again from its sound files. */
export class DamagedReth implements Disposable {
  readonly #folders = new Folders()
  readonly #sound: RethFiles
  readonly #executed: RecordedState

  constructor(sound: RethFiles, executed: RecordedState) {
    this.#sound = sound
    this.#executed = executed
  }

  /** @param read returns a file of the snapshot */
  static async make(read: (name: string) => Uint8Array): Promise<DamagedReth> {
    const files = new Map(Object.values(rethNames).map((file) => [file, new Uint8Array(read(file))]))
    return new DamagedReth(await rethFilesOf(files, files), await executeRecorded(name, head))
  }

  /** Imports a damaged snapshot, then the sound one as the faults say. @returns the code of the fault, or `harmless` */
  async judge(seed: number): Promise<string> {
    const folder = this.#folders.make()
    const datadir = join(folder, 'in', 'datadir')
    mkdirSync(datadir, { recursive: true })
    const damage = rethDamageOf(this.#sound, dice(seed))
    const outcome = await this.#import(datadir, damage.files)
    if (readdirSync(folder).join() !== 'in' || readdirSync(join(folder, 'in')).join() !== 'datadir' || existsSync('/tmp/basalt-evil')) {
      throw new Error(`${damage.what}: a file outside the data directory`)
    }
    if (outcome !== undefined) {
      await this.#requireNoChain(datadir)
      rmSync(join(datadir, 'reth-import'), { recursive: true, force: true })
      let again = await this.#import(datadir, this.#sound.files)
      // rows of a damaged page were loaded, which the root shows at the end; they are removed then
      if (again === 'STATE_ROOT_WRONG' || again === 'STATE_UNSORTED') again = await this.#import(datadir, this.#sound.files)
      if (again !== undefined) throw new Error(`${damage.what}: refused with ${outcome}, then ${again} with the sound files`)
    }
    await using kv = openChainKv(join(datadir, 'chain'))
    using found = kv.snapshot()
    using expected = this.#executed.kv.snapshot()
    requireExecuted(found, expected)
    await kv[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
    return outcome ?? 'harmless'
  }

  /** @returns the code of the fault that refused it */
  async #import(datadir: string, files: Files): Promise<string | undefined> {
    const { chain } = this.#executed
    const deps = {
      fetch: fetchFrom(files),
      clock: hastyClock(systemClock),
      random: () => 0,
      signal,
      onProgress: () => {},
      fetchTransactions: async () => givenBlocks(chain, head, head)[0]?.transactions ?? [],
    }
    const { l2ChainId: chainId, genesis } = chain.config
    const places = { source: 'https://snapshots.example/base', dir: join(datadir, 'chain'), workDir: join(datadir, 'reth-import') }
    const trusted = { command: 'again', chainId, genesis: genesis.l2, given: chain.blocks[head]?.hash }
    const outcome: unknown = await importReth(deps, { ...places, ...trusted }).catch((error: unknown) => error)
    if (isFault(outcome) && refusals.test(outcome.code)) return outcome.code
    if (outcome instanceof Error) throw outcome
    return undefined
  }

  async #requireNoChain(datadir: string): Promise<void> {
    if (!existsSync(join(datadir, 'chain', 'data.mdb'))) return
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    if (readHeads(reader) !== undefined) throw new Error('a chain begins with a damaged snapshot')
  }

  [Symbol.dispose](): void {
    this.#folders[Symbol.dispose]()
  }
}
