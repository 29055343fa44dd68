// A process that opens copies of a data directory with a damaged database file, one after another, until one of them ends the process.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { silentLog } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../chain/blocks.ts'
import { applyDamage, type Damage } from './damagedFile.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const blocks = 40

async function openStore(dir: string): Promise<{ kv: Kv; execution: Execution } & AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const kv = parts.use(openLmdbKv(dir, Object.values(tables)))
  agreeOnSchema(kv, chainSchema)
  const journal = parts.use(openFileJournal(join(dir, 'journal'), silentLog))
  const deps = { kv, journal, evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
  const execution = parts.use(createExecution(deps, { commitSliceMs: 0 }))
  const kept = parts.move()
  return { kv, execution, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Creates a store with a chain whose blocks are all committed, each in its own transaction. @returns their hashes, youngest first */
export async function makeStore(dir: string): Promise<readonly string[]> {
  await using store = await openStore(dir)
  const { execution } = store
  const hashes: string[] = []
  for (let nonce = 0n; nonce < blocks; nonce++) {
    const heads = await execution.heads()
    const built = await execution.build(heads.unsafe, attributesAt(schedule, heads.unsafe.number + 1, [signedBy('alice', { nonce })]))
    if (built.kind !== 'built') throw new Error(built.reason)
    await execution.setHeads({ ...heads, unsafe: l2RefOf(config, built.payload) })
    execution.commit()
    hashes.unshift(built.payload.blockHash)
  }
  return hashes
}

/** Returns the head after a start, or the code of its fault. */
async function start(dir: string): Promise<string> {
  try {
    await using store = await openStore(dir)
    using view = store.execution.view()
    return view.heads.latest.hash
  } catch (error) {
    return isFault(error) ? error.code : `error ${error instanceof Error ? error.stack : error}`
  }
}

const [, script, template = '', scratch = ''] = process.argv
if (process.send && script === import.meta.filename) {
  process.on('message', async (damage: Damage) => {
    rmSync(scratch, { recursive: true, force: true })
    cpSync(template, scratch, { recursive: true })
    applyDamage(damage, join(scratch, 'data.mdb'))
    process.send?.(await start(scratch))
  })
}
