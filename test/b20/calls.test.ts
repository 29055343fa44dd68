import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { bytesFromBigint } from '#lib/bytes'
import { tokenFields } from '#nativeContracts/token/fields'
import type { CallMessage } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { callMessage } from '#test/harness/evm/callMessage'
import { testAccount } from '#test/harness/evm/sessions'
import { parseAddress } from '#types/ids'
import { searchGas } from '../../src/rpc/methods/eth/calls/searchGas.ts'
import { listCall } from '../../src/simulation/call/accessList.ts'
import { runCall } from '../../src/simulation/call/callExecutor.ts'
import { call, encode } from './abi.ts'
import { balanceSlot, slotHash } from './slots.ts'
import { alice, bob } from './tokens.ts'

const token = parseAddress(`0xb2${'00'.repeat(10)}${'77'.repeat(9)}`)

const schedule = { ...scheduleTo('azul'), beryl: 0, cobalt: 0, denim: 0 }
const { config: chain } = smallChain(scheduleTo('azul'))
const config = { ...chain, schedule, l2ChainId: 901 } as unknown as Parameters<typeof runCall>[0]['config']
const accounts = [
  testAccount(alice, { balance: 10n ** 18n }),
  testAccount(token, { code: '0xef', storage: new Map([[balanceSlot(alice), 1_000n]]) }),
]
const header = headerOf({ number: 77, timestamp: 1_900_000_000, baseFeePerGas: 1_000n })
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState(accounts).state }
const deps = { evm: createWasmEvm(), config }
const transfer = (fields: Partial<CallMessage> = {}): CallMessage =>
  callMessage({ from: alice, to: token, data: call('transfer(address,uint256)', bob, 5n), ...fields })

it('b20/calls: an access list has the slots of the token, and makes them warm', () => {
  const plain = runCall(deps, at, transfer())
  const { accessList, measured } = listCall({ ...deps, traced: createTracedWasmEvm() }, at, transfer(), {})
  const slots = [tokenFields.paused, tokenFields.transferPolicies].map(slotHash)
  expect(accessList).toEqual([{ address: token, slots: [...slots, balanceSlot(alice), balanceSlot(bob)].toSorted() }])
  // four slots cost 1,900 in the list and are then 2,000 cheaper; the address costs 2,400
  expect(measured.gasUsed - plain.gasUsed).toBe(2_400n + 4n * (1_900n - 2_000n))
})

it('b20/calls: overridden slots are those of the contract', () => {
  const state = new Map([[token, { stateDiff: new Map([[balanceSlot(alice), bytesFromBigint(3n, 32)]]) }]])
  const overrides = { state: state as unknown as NonNullable<Parameters<typeof runCall>[3]>['state'] }
  const { outcome } = runCall(deps, at, transfer(), overrides)
  expect(outcome.kind).toBe('revert')
  const balance = transfer({ data: call('balanceOf(address)', alice) })
  expect(runCall(deps, at, balance).outcome).toMatchObject({ kind: 'success', output: encode(1_000n) })
})

it('b20/calls: an estimate covers the reserve that the last write needs', async () => {
  const most = 1_000_000n
  const first = runCall(deps, at, transfer({ gasLimit: most }))
  const run = async (gasLimit: bigint) => runCall(deps, at, transfer({ gasLimit }))
  const estimate = await searchGas(first, most, run)
  expect(runCall(deps, at, transfer({ gasLimit: estimate })).outcome.kind).toBe('success')
  expect(Number(estimate - first.gasUsed) / Number(first.gasUsed)).toBeLessThan(0.05)
  expect(runCall(deps, at, transfer({ gasLimit: first.gasUsed - 1n })).outcome.kind).not.toBe('success')
})
