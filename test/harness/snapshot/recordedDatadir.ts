import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { type RecordedChain, type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { payloadsOf } from '#test/harness/chain/l2Blocks'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'

/** Executes a recorded chain up to a block into the chain folder of a data directory. */
export async function executeInto(datadir: string, name: RecordedChainName, upTo: number, finalized: number): Promise<RecordedChain> {
  const chain = readRecordedChain(name)
  await using kv = openChainKv(join(datadir, 'chain'))
  agreeOnSchema(kv, chainSchema)
  const deps = { kv, evm: sharedEvm, config: chain.config, genesis: () => chain.genesis, clock: createManualClock(), log: silentLog }
  const execution = createExecution(deps)
  const payloads = payloadsOf(chain.blocks)
  for (const payload of payloads.slice(1, upTo + 1)) {
    const result = execution.insertPayload(payload)
    if (result.kind === 'invalid') throw new Error(result.reason)
  }
  const refAt = (number: number) => l2RefOf(chain.config, payloads[number] as (typeof payloads)[number])
  // a reader finds the state of the finalized block through history
  await execution.setHeads({ unsafe: refAt(upTo), safe: refAt(finalized), finalized: refAt(finalized) })
  await execution.close()
  return chain
}

/** Temporary folders of a test file, and an operator's key. */
export class Folders implements Disposable {
  readonly #made: string[] = []
  readonly key = generateKeyPairSync('ed25519').privateKey

  make(): string {
    const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-'))
    this.#made.push(folder)
    return folder
  }

  [Symbol.dispose](): void {
    for (const folder of this.#made.splice(0)) rmSync(folder, { recursive: true, force: true })
  }
}

/** Bounds that cut a small state into chunks of every kind. */
export const smallSizes = { leavesOfChunk: 400, inlineSlots: 12 }
