import { afterEach, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { decodeAccountRow, encodeAccountRow } from '#state/account'
import { storeFault } from '#store/faults'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { accountOf, attributesAt, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Account } from '#types/account'
import type { Payload } from '#types/payload'
import { createExecution, type Execution } from './execution.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const attributes = attributesAt(schedule, 1, [signedBy('alice', { to: accountOf('bob') })])

const opened: Execution[] = []
afterEach(async () => {
  for (const execution of opened.splice(0)) await execution.close()
})

function open(kv = createMemoryKv()): Execution {
  const execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog })
  opened.push(execution)
  return execution
}

async function validPayload(): Promise<Payload> {
  const built = await open().build(config.genesis.l2, attributes)
  if (built.kind === 'invalid') throw new Error(built.reason)
  return built.payload
}

/** Opens a chain in whose store an account has other values than the state root proves. */
async function openDamaged(name: string, change: (account: Account) => Account | undefined): Promise<Execution> {
  const kv = createMemoryKv()
  await open(kv).close()
  const key = keccak256(fromHex(accountOf(name)))
  kv.write((tx) => {
    const changed = change(decodeAccountRow(tx.get(tables.accounts.id, key) as Uint8Array))
    if (changed === undefined) tx.delete(tables.accounts.id, key)
    else tx.put(tables.accounts.id, key, encodeAccountRow(changed))
  })
  return open(kv)
}

const damaged = expect.objectContaining({ code: 'STATE_DAMAGED', severity: 'fatal', message: expect.stringContaining('chain/data.mdb') })

it.each([
  ['has another nonce', (account: Account) => ({ ...account, nonce: 1n })],
  ['has too little', (account: Account) => ({ ...account, balance: account.balance >> 40n })],
  ['is not there', () => undefined],
])('blockchain/damagedState: does not refuse a valid block when its sender %s in the database (STATE_DAMAGED)', async (_, change) => {
  const execution = await openDamaged('alice', change)
  const payload = await validPayload()
  expect(() => execution.insertPayload(payload)).toThrow(damaged)
  await expect(execution.build(config.genesis.l2, attributes)).rejects.toThrow(damaged)
  expect(await execution.payload(payload.blockHash)).toBeUndefined()
})

it('blockchain/damagedState: takes a block that reads no damaged row', async () => {
  const execution = await openDamaged('bob', (account) => ({ ...account, nonce: 9n }))
  const built = await open().build(config.genesis.l2, attributesAt(schedule, 1, [signedBy('alice', {})]))
  if (built.kind === 'invalid') throw new Error(built.reason)
  expect(execution.insertPayload(built.payload)).toEqual({ kind: 'valid' })
})

it('blockchain/damagedState: refuses an invalid block on a sound database, and on one whose damaged rows it does not read', async () => {
  const payload = await validPayload()
  for (const execution of [open(), await openDamaged('alice', (account) => ({ ...account, nonce: 1n }))]) {
    expect(execution.insertPayload({ ...payload, blockHash: hashOf('other') })).toMatchObject({ kind: 'invalid' })
    expect(await execution.build(config.genesis.l2, attributesAt(schedule, 1, [signedBy('carol', {})]))).toMatchObject({ kind: 'invalid' })
  }
})

/** Returns tables that throw where it is checked that an account is absent. */
function noticingKv(): Kv {
  const kv = createMemoryKv()
  const sound = kv.snapshot.bind(kv)
  kv.snapshot = () => {
    const reader = sound()
    const get = reader.get.bind(reader)
    reader.peek = (table, key, use) => {
      const row = get(table, key)
      return row && use(row)
    }
    reader.get = (table, key): Uint8Array | undefined => {
      const row = get(table, key)
      if (row === undefined && table === tables.accounts.id) throw storeFault('STORE_DAMAGED', { dir: 'chain', reason: 'no order' })
      return row
    }
    return reader
  }
  return kv
}

it('blockchain/damagedState: checks absent rows that a built block reads, and not those of a block whose header would contradict them', async () => {
  const fresh = attributesAt(schedule, 1, [signedBy('alice', { to: testAddress(0x77) })])
  const built = await open().build(config.genesis.l2, fresh)
  if (built.kind === 'invalid') throw new Error(built.reason)
  await expect(open(noticingKv()).build(config.genesis.l2, fresh)).rejects.toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }))
  expect(open(noticingKv()).insertPayload(built.payload)).toEqual({ kind: 'valid' })
})
