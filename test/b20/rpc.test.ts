import { beforeAll, describe, expect, it } from 'vitest'
import { createSenders } from '#block/execution/senders'
import { verifyPayload } from '#block/validation/verifyPayload'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { ethRegistry } from '#rpc/methods'
import { witnessState } from '#state/witnessState'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { testAccount } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { type DenimChain, openDenimChain } from '#test/harness/rpc/denimChain'
import { readResult } from '#test/harness/rpc/result'
import { hashHeader } from '#types/header'
import { hashFromBytes, parseAddress } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { call, encode, errorData } from './abi.ts'
import { balanceSlot } from './slots.ts'

const token = parseAddress(`0xb2${'00'.repeat(10)}${'77'.repeat(9)}`)
const alice = accountOf('alice')
const bob = accountOf('bob')
const word = (value: bigint): string => toHex(encode(value))
const data = call('transfer(address,uint256)', bob, 5n)
const transfer = signedBy('alice', { to: token, value: 0n, gasLimit: 100_000n, data })
const hash = hashTransaction(transfer)

let chain: DenimChain

/** A chain with a token of which alice has 1,000, and her transfer in block 3, the first of Denim. */
beforeAll(async () => {
  chain = openDenimChain([testAccount(token, { code: '0xef', storage: new Map([[balanceSlot(alice), 1_000n]]) })])
  for (const transactions of [[], [], [transfer]]) await chain.grow(transactions)
})

async function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
  const found = ethRegistry.get(method) ?? expect.fail(method)
  return readResult(await found.call({ ...chain.eth, cancellation: { isCancelled: false } }, params))
}

describe('b20/rpc: a transfer of tokens', () => {
  it('debug_traceTransaction and debug_traceBlockByNumber show the native frame with its name and log', async () => {
    const config = { tracer: 'callTracer', tracerConfig: { withLog: true } }
    const frame = { from: alice, to: token, nativeContract: 'B20Asset', output: word(1n), logs: [{ address: token, data: word(5n) }] }
    expect(await ask('debug_traceTransaction', hash, config)).toMatchObject(frame)
    expect(await ask('debug_traceBlockByNumber', '0x3', config)).toMatchObject([{}, {}, { txHash: hash, result: frame }])
  })

  it('the prestate tracer shows the slots of the token and their changes', async () => {
    const before = { storage: { [balanceSlot(alice)]: word(1_000n) } }
    expect(await ask('debug_traceTransaction', hash, { tracer: 'prestateTracer' })).toMatchObject({ [token]: { code: '0xef', ...before } })
    const diff = await ask('debug_traceTransaction', hash, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } })
    const after = { storage: { [balanceSlot(alice)]: word(995n), [balanceSlot(bob)]: word(5n) } }
    expect(diff).toMatchObject({ pre: { [token]: before }, post: { [token]: after } })
  })

  it('trace_transaction and trace_replayTransaction show the call and the changed slots', async () => {
    const action = { callType: 'call', from: alice, to: token, input: toHex(data) }
    expect(await ask('trace_transaction', hash)).toMatchObject([{ action, result: { output: word(1n) } }])
    expect(await ask('trace_replayTransaction', hash, ['trace', 'stateDiff'])).toMatchObject({
      trace: [{ action }],
      stateDiff: {
        [token]: {
          storage: {
            [balanceSlot(alice)]: { '*': { from: word(1_000n), to: word(995n) } },
            [balanceSlot(bob)]: { '*': { from: word(0n), to: word(5n) } },
          },
        },
      },
    })
  })

  it('eth_call with overrides, eth_estimateGas, eth_createAccessList and eth_simulateV1 run it', async () => {
    const message = { from: alice, to: token, data: toHex(data) }
    const overrides = { [token]: { stateDiff: { [balanceSlot(alice)]: word(3n) } } }
    expect(await ask('eth_call', message, 'latest')).toBe(word(1n))
    await expect(ask('eth_call', message, 'latest', overrides)).rejects.toMatchObject({
      data: errorData('InsufficientBalance(address,uint256,uint256)', alice, 3n, 5n),
    })
    const { accessList } = (await ask('eth_createAccessList', message, 'latest')) as {
      accessList: { address: string; storageKeys: string[] }[]
    }
    expect(accessList.map(({ address }) => address)).toEqual([token])
    expect(accessList[0]?.storageKeys).toEqual(expect.arrayContaining([balanceSlot(alice), balanceSlot(bob)]))
    const gas = Number(await ask('eth_estimateGas', message, 'latest'))
    const [simulated] = (await ask(
      'eth_simulateV1',
      { blockStateCalls: [{ calls: [{ ...message, gas: `0x${gas.toString(16)}` }] }] },
      'latest',
    )) as {
      calls: readonly unknown[]
    }[]
    expect(simulated?.calls).toMatchObject([{ status: '0x1', returnData: word(1n), logs: [{ address: token, data: word(5n) }] }])
  })
  it('debug_executionWitness has all state that the block needs', async () => {
    const { state, codes } = (await ask('debug_executionWitness', '0x3')) as Readonly<Record<'state' | 'codes', readonly `0x${string}`[]>>
    const preimages = new Map([...state, ...codes].map((each) => [hashFromBytes(keccak256(fromHex(each))), fromHex(each)]))
    const { execution, config } = chain
    using view = execution.view()
    const [parent, payload] = [view.header(view.canonicalHash(2) ?? expect.fail()) ?? expect.fail(), await execution.payload(3)]
    const hash = hashHeader(parent)
    const from = witnessState(preimages, parent.stateRoot, () => hash)
    const deps = { evm: sharedEvm, config, senders: createSenders({ maxBytes: 0 }) }
    const verified = verifyPayload(deps, { header: parent, hash, state: from }, payload ?? expect.fail())
    expect(verified).toMatchObject({ kind: 'executed', block: { hash: payload?.blockHash } })
  })
})
