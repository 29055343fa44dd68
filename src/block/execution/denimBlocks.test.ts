import { describe, expect, it } from 'vitest'
import { baseTimeAddress, depositorAccount, proxyAdmin } from '#chainspec/addresses'
import { baseTimeCode, baseTimeImplementation, encodeBaseTimeDeposit } from '#chainspec/baseTime'
import type { ForkSchedule } from '#chainspec/forks'
import type { Genesis } from '#chainspec/genesis'
import { networkOf } from '#chainspec/networks'
import { headerOfPayload } from '#engine/payloadHeader'
import { toHex } from '#lib/hex'
import { genesisState } from '#state/genesisState'
import { overlay } from '#state/stateStack'
import { createWorldReads } from '#state/worldReads'
import { attributesAt, chainStart, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { testAccount } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { decodeDeposit, encodeDeposit } from '#types/deposit'
import { hashHeader } from '#types/header'
import { type Hash, parseHash, zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { buildBlock } from '../building/buildBlock.ts'
import { genesisBlock } from '../genesisBlock.ts'
import { verifyPayload } from '../validation/verifyPayload.ts'
import type { ParentBlock } from './executeBlock.ts'
import { payloadOfBlock } from './payloadBlock.ts'
import { createSenders } from './senders.ts'

const implementationSlot = parseHash('0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc')
const adminSlot = parseHash('0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103')
type Accounts = Genesis['accounts']

/** The BaseTime proxy of Base Sepolia. */
const proxy = networkOf('base-sepolia')
  .genesis()
  .accounts.filter(({ address }) => address === baseTimeAddress)

/** A chain that Denim begins at `denimSec` after its start. */
class DenimChain {
  readonly schedule: ForkSchedule
  readonly #deps
  parent: ParentBlock

  constructor(denimSec = 2, accounts: Accounts = proxy) {
    this.schedule = scheduleTo('azul', { beryl: 0, cobalt: 0, denim: chainStart + denimSec })
    const { genesis, config } = smallChain(this.schedule, accounts)
    const { header, hash } = genesisBlock(genesis, this.schedule)
    this.parent = { header, hash, state: genesisState(genesis.accounts).state }
    this.#deps = { evm: sharedEvm, config, senders: createSenders({ maxBytes: 10_000 }) }
  }

  /** Attributes of the next block; `millisPart` undefined leaves out the BaseTime deposit. */
  attributes(sec: number, millisPart: number | undefined, transactions: readonly Uint8Array[] = []): PayloadAttributes {
    const number = this.parent.header.number + 1
    const {
      transactions: [info = expect.fail()],
      ...rest
    } = attributesAt(this.schedule, number)
    const deposits = millisPart === undefined ? [] : [encodeBaseTimeDeposit(number, millisPart)]
    return { ...rest, timestamp: chainStart + sec, transactions: [info, ...deposits, ...transactions] }
  }

  /** Builds a block and makes it the parent of the next. @returns why it is invalid */
  build(attributes: PayloadAttributes): string | undefined {
    const result = buildBlock(this.#deps, this.parent, attributes)
    if (result.kind === 'invalid') return result.reason
    const { block } = result
    expect(verifyPayload(this.#deps, this.parent, payloadOfBlock(block))).toMatchObject({ kind: 'executed' })
    this.parent = { header: block.header, hash: block.hash, state: overlay(this.parent.state, block.diff, block.trie) }
    return undefined
  }

  /** Returns why the block, with its transactions changed after building, is invalid. */
  verifyWith(attributes: PayloadAttributes, change: (transactions: readonly Uint8Array[]) => readonly Uint8Array[]): string | undefined {
    const result = buildBlock(this.#deps, this.parent, attributes)
    if (result.kind === 'invalid') expect.fail(result.reason)
    const { block } = result
    const changed = { ...payloadOfBlock(block), transactions: change(block.transactions) }
    const payload = { ...changed, blockHash: hashHeader(headerOfPayload(this.schedule, changed)) }
    const verified = verifyPayload(this.#deps, this.parent, payload)
    return verified.kind === 'invalid' ? verified.reason : undefined
  }

  slot(slot: Hash): bigint {
    return this.#reads.slot(baseTimeAddress, slot)
  }

  get #reads() {
    return createWorldReads(this.parent.state, this.parent.header.stateRoot)
  }

  get implementation() {
    return { account: this.#reads.account(baseTimeImplementation), code: toHex(this.#reads.code(baseTimeImplementation)) }
  }
}

describe('block/execution: the time of Denim blocks', () => {
  it('six blocks 200 ms apart, and their milliseconds in BaseTime', () => {
    const chain = new DenimChain()
    for (const [sec, millisPart] of [
      [2, 0],
      [2, 200],
      [2, 400],
      [2, 600],
      [2, 800],
      [3, 0],
      [3, 200],
    ] as const) {
      expect(chain.build(chain.attributes(sec, millisPart))).toBeUndefined()
      expect(chain.slot(zeroHash)).toBe(BigInt(millisPart))
    }
  })

  it('a chain that begins with Denim has its first block 200 ms after genesis', () => {
    const chain = new DenimChain(0)
    expect(chain.build(chain.attributes(0, 0))).toBe(
      `BaseTime scheduled timestamp mismatch: expected ${chainStart}200ms, got ${chainStart}000ms`,
    )
    expect(chain.build(chain.attributes(0, 200))).toBeUndefined()
  })

  it.each<[string, number, number | undefined, string]>([
    ['a missed slot', 2, 400, `expected ${chainStart + 2}200ms, got ${chainStart + 2}400ms`],
    ['the time of its parent', 2, 0, `expected ${chainStart + 2}200ms, got ${chainStart + 2}000ms`],
    ['the next second', 3, 200, `expected ${chainStart + 2}200ms, got ${chainStart + 3}200ms`],
    ['the second before', 1, undefined, `timestamp ${chainStart + 1} is not after the parent's ${chainStart + 2}`],
    ['no BaseTime deposit', 2, undefined, 'missing BaseTime metadata deposit at tx[1]'],
  ])('refuses %s', (_what, sec, millisPart, reason) => {
    const chain = new DenimChain()
    expect(chain.build(chain.attributes(2, 0))).toBeUndefined()
    expect(chain.build(chain.attributes(sec, millisPart))).toContain(reason)
  })

  it('refuses milliseconds in the first Denim block, and a setter before Denim', () => {
    const chain = new DenimChain(4)
    expect(chain.build(chain.attributes(2, 0))).toBe('protocol-authorized BaseTime setter at tx[1] before Denim')
    expect(chain.build(chain.attributes(2, undefined))).toBeUndefined()
    expect(chain.build(chain.attributes(4, 200))).toBe('invalid first Denim BaseTime anchor: expected 0ms, got 200ms')
  })

  it('refuses a payload whose BaseTime deposit was changed', () => {
    const chain = new DenimChain()
    const deposit = decodeDeposit(encodeBaseTimeDeposit(1, 0))
    const replaced =
      (fields: Partial<typeof deposit>) =>
      ([first = expect.fail()]: readonly Uint8Array[]) => [first, encodeDeposit({ ...deposit, ...fields })]
    const attributes = chain.attributes(2, 0)
    expect(chain.verifyWith(attributes, replaced({ from: proxyAdmin }))).toContain('invalid BaseTime metadata deposit: sender')
    expect(chain.verifyWith(attributes, replaced({ gasLimit: 20_000n }))).toContain('invalid BaseTime metadata deposit: gas limit')
    expect(chain.verifyWith(attributes, (all) => [...all, ...all.slice(1)])).toContain(
      'additional protocol-authorized BaseTime setter at tx[2]',
    )
  })

  it('a signed transaction that calls the setter is an ordinary failing call', () => {
    const chain = new DenimChain()
    const { data } = decodeDeposit(encodeBaseTimeDeposit(1, 200))
    const call = signedBy('alice', { to: baseTimeAddress, data, value: 0n, gasLimit: 100_000n })
    expect(chain.build(chain.attributes(2, 0, [call]))).toBeUndefined()
    expect(chain.slot(zeroHash)).toBe(0n)
  })
})

describe('block/execution: the BaseTime predeploy', () => {
  const without = (): Accounts => []
  const proxyWith = (storage: Map<Hash, bigint>): Accounts =>
    proxy.map((account) => testAccount(account.address, { nonce: 1n, storage, code: toHex(account.code) }))

  it('the first Denim block installs the implementation; its balance stays', () => {
    const chain = new DenimChain(4, [...proxy, testAccount(baseTimeImplementation, { balance: 5n })])
    chain.build(chain.attributes(2, undefined))
    expect(chain.slot(implementationSlot)).toBe(0n)
    expect(chain.build(chain.attributes(4, 0))).toBeUndefined()
    expect(chain.slot(implementationSlot)).toBe(BigInt(baseTimeImplementation))
    expect(chain.implementation).toMatchObject({ account: { balance: 5n }, code: toHex(baseTimeCode) })
  })

  it('an implementation that is already set stays', () => {
    const own = testAccount(baseTimeImplementation.replace(/0030$/, '0031') as typeof baseTimeImplementation, { code: toHex(baseTimeCode) })
    const storage = new Map([
      [implementationSlot, BigInt(own.address)],
      [adminSlot, 1n],
    ])
    const chain = new DenimChain(2, [...proxyWith(storage), own])
    expect(chain.build(chain.attributes(2, 0))).toBeUndefined()
    expect(chain.slot(implementationSlot)).toBe(BigInt(own.address))
    expect(chain.implementation.account).toBeUndefined()
  })

  it('an implementation that rejects the deposit makes the block invalid', () => {
    const own = testAccount(baseTimeImplementation.replace(/0030$/, '0031') as typeof baseTimeImplementation, { code: '0x5f5ffd' })
    const chain = new DenimChain(2, [...proxyWith(new Map([[implementationSlot, BigInt(own.address)]])), own])
    expect(chain.build(chain.attributes(2, 0))).toBe('the BaseTime metadata deposit failed')
    const silent = new DenimChain(2, [
      ...proxyWith(
        new Map([
          [implementationSlot, BigInt(own.address)],
          [zeroHash, 600n],
        ]),
      ),
      testAccount(own.address, { code: '0x00' }),
    ])
    expect(silent.build(silent.attributes(2, 0))).toBe('BaseTime holds 600ms, 0ms expected')
  })

  it.each<[string, Accounts, string]>([
    ['without the proxy', without(), 'the BaseTime proxy is missing'],
    ['with a proxy without code', [testAccount(baseTimeAddress, { balance: 1n })], 'the BaseTime proxy has no code'],
    ['with a proxy of another admin', proxyWith(new Map([[adminSlot, BigInt(depositorAccount)]])), 'the BaseTime proxy has the admin'],
  ])('a Denim block %s is invalid', (_what, accounts, reason) => {
    const chain = new DenimChain(2, accounts)
    expect(chain.build(chain.attributes(2, 0))).toContain(reason)
  })
})
