import { describe, expect, it } from 'vitest'
import { baseFeeVault, beaconRootsContract, historyStorageContract, l1BlockAddress, operatorFeeVault } from '#chainspec/addresses'
import { create2DeployerAddress, create2DeployerCode } from '#chainspec/create2Deployer'
import type { ForkSchedule } from '#chainspec/forks'
import { genesisState } from '#state/genesisState'
import { overlay } from '#state/stateStack'
import { createWorldReads } from '#state/worldReads'
import { accountOf, attributesAt, chainStart, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { emptyRequestsHash, emptyRoot, type Hash, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { buildBlock } from '../building/buildBlock.ts'
import { genesisBlock } from '../genesisBlock.ts'
import { verifyPayload } from '../validation/verifyPayload.ts'
import type { ParentBlock } from './executeBlock.ts'
import type { ExecutedBlock } from './executedBlock.ts'
import { payloadOfBlock } from './payloadBlock.ts'
import { createSenders, type SendersAhead } from './senders.ts'

/** Code that stores CALLDATALOAD(0) at slot 0. */
const recorder = '0x5f355f5500'

/** DA footprint scalar 400, operator fee scalar 5,000, operator fee constant 1,000,000. */
const operatorFeeSlot = zeroHash.replace(/0$/, '8') as Hash
const operatorFees = (400n << 96n) | (5_000n << 64n) | 1_000_000n

function chainOf(schedule: ForkSchedule) {
  const l1Block = testAccount(l1BlockAddress, { nonce: 1n, storage: new Map([[operatorFeeSlot, operatorFees]]) })
  const extra = [l1Block, testAccount(beaconRootsContract, { code: recorder }), testAccount(historyStorageContract, { code: recorder })]
  const { genesis, config } = smallChain(schedule, extra)
  const { header, hash } = genesisBlock(genesis, schedule)
  const parent: ParentBlock = { header, hash, state: genesisState(genesis.accounts).state }
  const deps = { evm: sharedEvm, config, senders: createSenders({ maxBytes: 10_000 }) }
  const build = (attributes: PayloadAttributes, ahead?: SendersAhead) => buildBlock({ ...deps, ahead }, parent, attributes)
  const verify = (payload: Payload, ahead?: SendersAhead) => verifyPayload({ ...deps, ahead }, parent, payload)
  const after = (block: ExecutedBlock) => createWorldReads(overlay(parent.state, block.diff, block.trie), block.header.stateRoot)
  return { schedule, config, parent, build, verify, after }
}

function built(schedule: ForkSchedule, transactions: readonly Uint8Array[] = []) {
  const chain = chainOf(schedule)
  const result = chain.build(attributesAt(schedule, 1, transactions))
  if (result.kind === 'invalid') throw new Error(result.reason)
  return { ...chain, block: result.block, header: result.block.header, state: chain.after(result.block) }
}

describe('block/execution/executeBlock: header fields by fork', () => {
  it.each([
    ['regolith', { withdrawalsRoot: undefined, blobGasUsed: undefined, parentBeaconBlockRoot: undefined, requestsHash: undefined }],
    ['canyon', { withdrawalsRoot: emptyRoot, blobGasUsed: undefined, parentBeaconBlockRoot: undefined, requestsHash: undefined }],
    ['ecotone', { withdrawalsRoot: emptyRoot, blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: hashOf('beacon 1') }],
    ['isthmus', { withdrawalsRoot: emptyRoot, blobGasUsed: 0n, requestsHash: emptyRequestsHash }],
  ] as const)('sets the fields of %s', (fork, fields) => {
    const { header } = built(scheduleTo(fork))
    for (const [name, value] of Object.entries(fields)) expect(header[name as keyof typeof header], name).toEqual(value)
  })

  it('sets blobGasUsed to the DA footprint of the user transactions, from Jovian on', () => {
    const { header } = built(scheduleTo('jovian'), [signedBy('alice', {}), signedBy('bob', {})])
    expect(header.blobGasUsed).toBe(2n * 100n * 400n)
  })
})

describe('block/execution/executeBlock: senders from other threads', () => {
  const transactions = [signedBy('alice', {}), signedBy('bob', {}), signedBy('alice', { nonce: 1n })]

  it('asks for the sender of each signed transaction once, by its place, and recovers those that are not ready', () => {
    const chain = chainOf(scheduleTo('isthmus'))
    const alone = chain.build(attributesAt(chain.schedule, 1, transactions))
    const asked: number[] = []
    const ahead: SendersAhead = {
      at(index) {
        asked.push(index)
        return index === 2 ? accountOf('bob') : undefined
      },
    }
    expect(chain.build(attributesAt(chain.schedule, 1, transactions), ahead)).toEqual(alone)
    expect(asked).toEqual([1, 2, 3])
    const payload = alone.kind === 'executed' ? payloadOfBlock(alone.block) : expect.fail()
    expect(chain.verify(payload, ahead)).toEqual(alone)
    expect(asked).toEqual([1, 2, 3, 1, 2, 3])
  })

  it('runs a transaction with the given sender', () => {
    const chain = chainOf(scheduleTo('isthmus'))
    const result = chain.build(attributesAt(chain.schedule, 1, transactions.slice(0, 1)), { at: () => accountOf('bob') })
    expect(result).toMatchObject({ block: { executed: [{}, { sender: accountOf('bob') }] } })
  })
})

describe('block/execution/executeBlock: system calls', () => {
  it('stores the parent beacon root from Ecotone on, and the parent hash from Isthmus on', () => {
    const ecotone = built(scheduleTo('ecotone'))
    expect(ecotone.state.slot(beaconRootsContract, zeroHash)).toBe(BigInt(hashOf('beacon 1')))
    expect(ecotone.state.slot(historyStorageContract, zeroHash)).toBe(0n)
    const isthmus = built(scheduleTo('isthmus'))
    expect(isthmus.state.slot(historyStorageContract, zeroHash)).toBe(BigInt(isthmus.parent.hash))
  })

  it('sets the create2 deployer in the first block of Canyon, but not when Canyon is active from genesis on', () => {
    expect(built(scheduleTo('regolith', { canyon: chainStart + 2 })).state.code(create2DeployerAddress)).toEqual(create2DeployerCode)
    expect(built(scheduleTo('canyon')).state.account(create2DeployerAddress)).toBeUndefined()
    expect(built(scheduleTo('regolith', { canyon: chainStart + 4 })).state.account(create2DeployerAddress)).toBeUndefined()
  })
})

describe('block/execution/executeBlock: transactions', () => {
  it('pays fees to the vaults and the beneficiary, and accumulates gas in receipts', () => {
    const { block, state } = built(scheduleTo('granite'), [signedBy('alice', {}), signedBy('bob', { value: 5n })])
    const { executed, header } = block
    expect(executed.map(({ gasUsed }) => gasUsed).slice(1)).toEqual([21_000n, 21_000n])
    expect(executed[2]?.receipt.cumulativeGasUsed).toBe(header.gasUsed)
    expect(state.account(testAddress(0x77))?.balance).toBe(6n)
    expect(state.account(testAddress(0xfe))?.balance).toBe(42_000n)
    expect(state.account(baseFeeVault)?.balance).toBe(42_000n * (header.baseFeePerGas ?? 0n))
  })

  it.each([
    ['isthmus', (21_000n * 5_000n) / 1_000_000n + 1_000_000n],
    ['jovian', 21_000n * 5_000n * 100n + 1_000_000n],
  ] as const)('pays the operator fee on the gas used to its vault and returns the excess: %s', (fork, fee) => {
    const { state, header } = built(scheduleTo(fork), [signedBy('alice', { gasLimit: 100_000n })])
    expect(state.account(operatorFeeVault)?.balance).toBe(fee)
    const spent = 10n ** 18n - (state.account(accountOf('alice'))?.balance ?? 0n)
    expect(spent).toBe(21_000n * ((header.baseFeePerGas ?? 0n) + 1n) + 1n + fee)
  })

  it('makes the block invalid when its DA footprint exceeds the gas limit, from Jovian on', () => {
    const schedule = scheduleTo('jovian')
    // the L1 attributes need 1,000,000 gas; one transaction has a footprint of 40,000
    const transactions = Array.from({ length: 26 }, (_, nonce) => signedBy('alice', { nonce: BigInt(nonce) }))
    const build = (gasLimit: bigint) => chainOf(schedule).build({ ...attributesAt(schedule, 1, transactions), gasLimit })
    expect(build(1_040_000n).kind).toBe('executed')
    expect(build(1_039_999n)).toEqual({ kind: 'invalid', reason: 'transaction 26: the DA footprint exceeds the gas limit of the block' })
  })

  it.each([
    ['undecodable bytes', [Uint8Array.of(0x05)], 'transaction 1: unknown transaction type 5'],
    ['another chain’s transaction', [signedBy('alice', { chainId: 1n })], 'transaction 1: chain id 1'],
    ['a repeated nonce', [signedBy('alice', {}), signedBy('alice', {})], 'transaction 2: nonce too low'],
    ['a gas limit above the remaining gas', [signedBy('alice', { gasLimit: 30_000_000n })], 'transaction 1: '],
    ['a sender without funds', [signedBy('carol', {})], 'transaction 1: '],
  ])('makes the block invalid for %s', (_what, transactions, reason) => {
    const result = chainOf(scheduleTo('isthmus')).build(attributesAt(scheduleTo('isthmus'), 1, transactions))
    expect(result).toEqual({ kind: 'invalid', reason: expect.stringContaining(reason) })
  })

  it('makes the block invalid for a deposit beyond its gas limit, from Regolith on', () => {
    const schedule = scheduleTo('regolith')
    const attributes = { ...attributesAt(schedule, 1), gasLimit: 999_999n }
    expect(chainOf(schedule).build(attributes)).toEqual({
      kind: 'invalid',
      reason: 'transaction 0: exceeds the gas limit of the block',
    })
    const before = scheduleTo('bedrock')
    expect(chainOf(before).build({ ...attributesAt(before, 1), gasLimit: 999_999n }).kind).toBe('executed')
  })

  it('adds deposit nonces from Regolith and versions from Canyon on, and omits the nonce from the root before Canyon', () => {
    const receiptOf = (schedule: ForkSchedule) => built(schedule).block.executed[0]?.receipt
    expect(receiptOf(scheduleTo('bedrock'))).not.toHaveProperty('depositNonce')
    expect(receiptOf(scheduleTo('regolith'))).toMatchObject({ depositNonce: 0n })
    expect(receiptOf(scheduleTo('regolith'))).not.toHaveProperty('depositReceiptVersion')
    expect(receiptOf(scheduleTo('canyon'))).toMatchObject({ depositNonce: 0n, depositReceiptVersion: 1n })
    const [regolith, canyon] = [built(scheduleTo('regolith')).header, built(scheduleTo('canyon')).header]
    expect(regolith.gasUsed).toBe(canyon.gasUsed)
    expect(regolith.receiptsRoot).not.toBe(canyon.receiptsRoot)
  })
})

describe('block/building/buildBlock: attributes', () => {
  const jovian = scheduleTo('jovian')
  const good = attributesAt(jovian, 1)
  const { minBaseFee: _fee, ...withoutMinimum } = good
  const { eip1559Params: _params, ...withoutParams } = good
  const { withdrawals: _withdrawals, ...withoutWithdrawals } = good

  it.each([
    ['minBaseFee is missing', jovian, withoutMinimum],
    ['eip1559Params are missing', jovian, withoutParams],
    ['withdrawals are missing', jovian, withoutWithdrawals],
    ['minBaseFee is present before jovian', scheduleTo('isthmus'), good],
    ['eip1559Params are present before holocene', scheduleTo('granite'), withoutMinimum],
    [
      'withdrawals are present before canyon',
      scheduleTo('regolith'),
      { ...attributesAt(scheduleTo('regolith'), 1), withdrawals: [] as const },
    ],
    ['eip1559Params: denominator is zero', jovian, { ...good, eip1559Params: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1) }],
  ])('throws INVALID_ATTRIBUTES when %s', (reason, schedule, attributes) => {
    expect(() => chainOf(schedule).build(attributes)).toThrow(
      expect.objectContaining({ code: 'INVALID_ATTRIBUTES', data: expect.objectContaining({ reason }) }),
    )
  })

  it.each([
    ['is not after the parent', { timestamp: chainStart }],
    ['the first transaction is not a deposit', { transactions: [] }],
    ['the first transaction is not a deposit', { transactions: [signedBy('alice', {})] }],
  ])('returns invalid when %s', (reason, fields) => {
    expect(chainOf(jovian).build({ ...good, ...fields })).toEqual({ kind: 'invalid', reason: expect.stringContaining(reason) })
  })

  it('builds the same block without noTxPool, because it does not use a pool', () => {
    const [with_, without] = [chainOf(jovian).build(good), chainOf(jovian).build({ ...good, noTxPool: false })]
    expect(without).toMatchObject({ kind: 'executed', block: { hash: with_.kind === 'executed' ? with_.block.hash : '' } })
  })
})

describe('block/validation/verifyPayload', () => {
  const schedule = scheduleTo('isthmus')
  const { block, verify } = built(schedule, [signedBy('alice', {})])
  const payload = payloadOfBlock(block)
  const rehashed = (fields: Partial<typeof block.header>) => payloadOfBlock({ ...block, header: { ...block.header, ...fields } })

  it('accepts a block that this node built', () => {
    expect(verify(payload)).toMatchObject({ kind: 'executed', block: { hash: block.hash } })
  })

  it.each([
    ['stateRoot', { stateRoot: emptyRoot }],
    ['receiptsRoot', { receiptsRoot: emptyRoot }],
    ['withdrawalsRoot', { withdrawalsRoot: hashOf('other') }],
    ['gasUsed', { gasUsed: 1n }],
    ['baseFeePerGas', { baseFeePerGas: 1n }],
    ['blobGasUsed', { blobGasUsed: 1n }],
    ['excessBlobGas', { excessBlobGas: 1n }],
    ['logsBloom', { logsBloom: new Uint8Array(256).fill(1) }],
    ['number', { number: 2 }],
    ['parentHash', { parentHash: hashOf('other') }],
    ['extra data', { extraData: new Uint8Array(0) }],
    ['timestamp', { timestamp: chainStart }],
  ])('names %s when it is the first different field', (field, fields) => {
    expect(verify(rehashed(fields))).toEqual({ kind: 'invalid', reason: expect.stringMatching(new RegExp(`^${field} `)) })
  })

  it.each([
    ['blockHash', { ...payload, blockHash: hashOf('other') }],
    ['blockHash', { ...payload, transactions: payload.transactions.slice(0, 1) }],
  ])('names %s when the header does not hash to it', (field, changed) => {
    expect(verify(changed)).toEqual({ kind: 'invalid', reason: expect.stringMatching(new RegExp(`^${field} is `)) })
  })

  it.each(['withdrawals', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'withdrawalsRoot'] as const)(
    'names %s when it is missing',
    (field) => {
      const { [field]: _missing, ...rest } = payload
      expect(verify(rest as Payload)).toEqual({ kind: 'invalid', reason: `${field} is missing` })
    },
  )

  it('names a field that is present before its fork', () => {
    const early = scheduleTo('granite')
    const old = built(early)
    const withRoot = { ...payloadOfBlock(old.block), withdrawalsRoot: emptyRoot }
    expect(old.verify(withRoot)).toEqual({ kind: 'invalid', reason: 'withdrawalsRoot is present before isthmus' })
  })

  it('refuses a payload without L1 attributes', () => {
    const none = payloadOfBlock({ header: { ...block.header, transactionsRoot: emptyRoot }, transactions: [] })
    expect(verify(none)).toEqual({ kind: 'invalid', reason: 'the first transaction is not a deposit' })
  })
})
