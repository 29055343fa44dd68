import { describe, expect, it } from 'vitest'
import { buildBlock } from '#block/building/buildBlock'
import type { BlockDeps, ParentBlock } from '#block/execution/executeBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createSenders } from '#block/execution/senders'
import { genesisBlock } from '#block/genesisBlock'
import { verifyPayload } from '#block/validation/verifyPayload'
import { baseTimeAddress } from '#chainspec/addresses'
import { encodeBaseTimeDeposit } from '#chainspec/baseTime'
import { networkOf } from '#chainspec/networks'
import type { Evm } from '#evm/ports'
import { activationRegistryAddress, factoryAddress, policyRegistryAddress } from '#nativeContracts/addresses'
import { genesisState } from '#state/genesisState'
import { overlay } from '#state/stateStack'
import { createWorldReads } from '#state/worldReads'
import { attributesAt, chainStart, hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { encodeDeposit } from '#types/deposit'
import type { Address } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { createReferenceEvm } from '../reference/referenceEvm.ts'
import { call, nameHash } from './abi.ts'
import { balanceSlot } from './slots.ts'
import { admin, alice, carol, creationData } from './tokens.ts'

const proxy = networkOf('base-sepolia')
  .genesis()
  .accounts.filter(({ address }) => address === baseTimeAddress)
const schedule = scheduleTo('azul', { beryl: 0, cobalt: 0, denim: 0, activationAdmin: admin })
const { genesis, config } = smallChain(schedule, proxy)
const depsOf = (evm: Evm): BlockDeps => ({ evm, config, senders: createSenders({ maxBytes: 10_000 }) })
const [wasm, reference] = [depsOf(sharedEvm), depsOf(createReferenceEvm())]

type Sent = { readonly from: Address; readonly to: Address | null; readonly data: Uint8Array; readonly gasLimit: number }

let deposits = 0
const depositOf = ({ gasLimit, ...sent }: Sent): Uint8Array =>
  encodeDeposit({
    ...{ type: 0x7e, sourceHash: hashOf(`deposit ${deposits++}`), ...sent, mint: 0n, value: 0n },
    ...{ gasLimit: BigInt(gasLimit), isSystemTransaction: false },
  })

function attributesOn({ header }: ParentBlock, sent: readonly Sent[]): PayloadAttributes {
  const number = header.number + 1
  const base = attributesAt(schedule, number)
  const [info = expect.fail()] = base.transactions
  const baseTime = encodeBaseTimeDeposit(number, (200 * number) % 1_000)
  return { ...base, timestamp: chainStart + Math.floor(number / 5), transactions: [info, baseTime, ...sent.map(depositOf)] }
}

/** Builds a block of deposits on the production interpreter, and executes it on the reference. @returns the block, as a parent, and its deposits' receipts */
function built(on: ParentBlock, sent: readonly Sent[]) {
  const result = buildBlock(wasm, on, attributesOn(on, sent))
  if (result.kind === 'invalid') throw new Error(result.reason)
  const { block } = result
  expect(verifyPayload(reference, on, payloadOfBlock(block))).toMatchObject({ kind: 'executed', block: { hash: block.hash } })
  const parent: ParentBlock = { header: block.header, hash: block.hash, state: overlay(on.state, block.diff, block.trie) }
  const own = block.executed.slice(2)
  const receipts = own.map(({ receipt }) => receipt)
  return { parent, header: block.header, receipts, gasUsed: own.map(({ gasUsed }) => Number(gasUsed)) }
}

/** Returns a state with a token of which alice has all, and the token. */
function prepare() {
  const { header, hash } = genesisBlock(genesis, schedule)
  const empty: ParentBlock = { header, hash, state: genesisState(genesis.accounts).state }
  const activate = (name: string) => ({ to: activationRegistryAddress, data: call('activate(bytes32)', nameHash(name)) })
  const creation = built(empty, [
    { from: admin, ...activate('base.b20_asset'), gasLimit: 200_000 },
    { from: admin, to: factoryAddress, data: creationData(1, admin), gasLimit: 2_000_000 },
  ])
  const token = `0x${creation.receipts[1]?.logs[0]?.topics[1]?.slice(26)}` as Address
  const own = (data: Uint8Array): Sent => ({ from: admin, to: token, data, gasLimit: 200_000 })
  const { parent, receipts } = built(creation.parent, [
    ...['MINT_ROLE', 'OPERATOR_ROLE'].map((role) => own(call('grantRole(bytes32,address)', nameHash(role), admin))),
    own(call('mint(address,uint256)', alice, supply)),
  ])
  expect(receipts.every(({ succeeded }) => succeeded)).toBe(true)
  return { parent, token }
}

const supply = 1_000_000n
const { parent, token } = prepare()
const balanceOf = ({ header, state }: ParentBlock, holder: Address): bigint =>
  createWorldReads(state, header.stateRoot).slot(token, balanceSlot(holder))

/** Call data of a batch with two mints. */
function announcement(): Uint8Array {
  const calls = [call('mint(address,uint256)', carol, 5n), call('mint(address,uint256)', alice, 5n)]
  return call('announce(bytes[],string,string,string)', calls, { text: 'id' }, { text: 'd' }, { text: 'u' })
}

describe('b20/blocks: deposits that call native contracts', () => {
  it('fill a block to its gas limit, on both interpreters and in bounded time, and no deposit fits above it', () => {
    const transfer = { from: alice, to: token, data: call('transfer(address,uint256)', carol, 1n), gasLimit: 60_000 }
    const count = 700
    const startMs = performance.now()
    const transfers = Array.from({ length: count }, () => transfer)
    const { header } = built(parent, transfers)
    const rest: Sent = { from: alice, to: null, data: Uint8Array.of(0xfe), gasLimit: Number(header.gasLimit - header.gasUsed) }
    const full = built(parent, [...transfers, rest])
    expect(full.header.gasUsed).toBe(full.header.gasLimit)
    expect(full.receipts.map(({ succeeded }) => succeeded)).toEqual([...transfers.map(() => true), false])
    expect([balanceOf(full.parent, alice), balanceOf(full.parent, carol)]).toEqual([supply - BigInt(count), BigInt(count)])
    const overfull = attributesOn(parent, [...transfers, { ...rest, gasLimit: rest.gasLimit + 1 }])
    for (const deps of [wasm, reference])
      expect(buildBlock(deps, parent, overfull)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('gas limit') })
    expect(performance.now() - startMs).toBeLessThan(20_000)
  })

  it.each<[string, Address, Address, Uint8Array, number, number]>([
    ['transfers', alice, token, call('transfer(address,uint256)', carol, 1n), 21_500, 60],
    [
      'creations',
      alice,
      factoryAddress,
      creationData(5, alice, [call('updateContractURI(string)', { text: 'x'.repeat(70) })]),
      30_000,
      2_000,
    ],
    ['batches', admin, token, announcement(), 24_000, 700],
  ])('%s that lack gas at any step use their limit and leave nothing behind', (_what, from, to, data, least, step) => {
    const [enough = expect.fail()] = built(parent, [{ from, to, data, gasLimit: 2_000_000 }]).gasUsed
    const limits: number[] = []
    for (let gasLimit = least; gasLimit < enough; gasLimit += step) limits.push(gasLimit)
    expect(limits.length).toBeGreaterThan(100)
    // in several blocks, whose limit they exceed together
    let at = parent
    for (let first = 0; first < limits.length; first += 80) {
      const some = limits.slice(first, first + 80)
      const block = built(
        at,
        some.map((gasLimit) => ({ from, to, data, gasLimit })),
      )
      at = block.parent
      expect(block.receipts.filter(({ succeeded, logs }) => succeeded || logs.length > 0)).toEqual([])
      expect(block.gasUsed).toEqual(some)
    }
    const reads = (one: ParentBlock) => createWorldReads(one.state, one.header.stateRoot)
    for (const address of [token, factoryAddress, activationRegistryAddress, policyRegistryAddress])
      expect(reads(at).account(address)).toEqual(reads(parent).account(address))
    const last = built(at, [{ from, to, data, gasLimit: enough + 2_400 }])
    expect(last.receipts).toMatchObject([{ succeeded: true }])
  })
})
