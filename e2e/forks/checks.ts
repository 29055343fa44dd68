import { concatHex, type Hex, keccak256 } from 'viem'
import { extractTransactionDepositedLogs, getL2TransactionHash } from 'viem/op-stack'
import { formatLog } from 'viem/utils'
import { expect } from 'vitest'
import { checkBaseTime } from './denim.ts'
import type { Block, BlockWithReceipts, Log, Receipt } from './reader.ts'
import {
  applyUpdate,
  type Config,
  configOfGenesis,
  configUpdateTopic,
  depositTopic,
  dueMs,
  extraData,
  type Fork,
  forkNames,
  l1AttributesData,
  nextBaseFee,
  type Rollup,
  rawDeposit,
  scaledConfig,
  sourceHash,
  upgrades,
} from './rules.ts'

const emptyTrie = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const noRequests = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export const isActive = (rollup: Rollup, fork: Fork, timestamp: number): boolean => timestamp >= rollup[`${fork}_time`]
/** Returns the last active fork; 'bedrock' before Canyon. */
export const forkAt = (rollup: Rollup, timestamp: number): Fork | 'bedrock' =>
  forkNames.findLast((fork) => isActive(rollup, fork, timestamp)) ?? 'bedrock'

/** Data that L1 determines for L2, by L1 block. */
export type L1Story = {
  readonly blocks: readonly BlockWithReceipts[]
  /** config in force after each L1 block, by number */
  readonly configs: readonly Config[]
  /** hashes on L2 of the deposits of each L1 block, by number */
  readonly deposits: readonly (readonly Hex[])[]
}

const logsOf = (receipts: readonly Receipt[], address: Hex, topic: Hex): readonly Log[] =>
  receipts
    .filter(({ status }) => status === '0x1')
    .flatMap(({ logs }) => logs)
    .filter((log) => log.address.toLowerCase() === address.toLowerCase() && log.topics[0] === topic)

export function l1StoryOf(rollup: Rollup, blocks: readonly BlockWithReceipts[]): L1Story {
  let config = configOfGenesis(rollup)
  const configs = blocks.map(({ block, receipts }) => {
    const isEcotone = isActive(rollup, 'ecotone', Number(block.timestamp))
    for (const log of logsOf(receipts, rollup.l1_system_config_address, configUpdateTopic))
      config = applyUpdate(config, log, isEcotone, Number(block.number))
    return config
  })
  const deposits = blocks.map(({ receipts }) => {
    const logs = logsOf(receipts, rollup.deposit_contract_address, depositTopic).map((log) => formatLog(log as never))
    return extractTransactionDepositedLogs({ logs: logs as never }).map((log) => getL2TransactionHash({ log }))
  })
  return { blocks, configs, deposits }
}

type Place = { readonly origin: number; readonly sequenceNumber: number }

/** Returns the L1 origin of a block, from its first transaction. */
export function placeOf({ transactions }: Block): Place {
  const data = transactions[0]?.input ?? '0x'
  const at = (from: number, length: number): number => Number(`0x${data.slice(2 + 2 * from, 2 + 2 * (from + length))}`)
  return data.startsWith('0x015d8eb9')
    ? { origin: at(4, 32), sequenceNumber: at(4 + 128, 32) }
    : { origin: at(28, 8), sequenceNumber: at(12, 8) }
}

/** Sender of the L1 attributes, and of the transaction that switches the gas price oracle at an upgrade. */
export const systemSender = '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001'

/**
 * Checks every value of one block that the rules of its fork determine.
 * @param systemNonce number of transactions of the L1 attributes' sender in earlier blocks
 * @param firstDenimOrigin L1 origin of the first Denim block; undefined for a block before it
 */
export function checkBlock(
  rollup: Rollup,
  story: L1Story,
  { block, receipts }: BlockWithReceipts,
  parent: Block,
  systemNonce: number,
  firstDenimOrigin: number | undefined,
): void {
  const time = Number(block.timestamp)
  const at = (fork: Fork): boolean => isActive(rollup, fork, time)
  const wasAt = (fork: Fork): boolean => isActive(rollup, fork, Number(parent.timestamp))
  const { origin, sequenceNumber } = placeOf(block)
  const l1 = story.blocks[origin]?.block
  const ofL1 = story.configs[origin]
  if (l1 === undefined || ofL1 === undefined) throw new Error(`no L1 block ${origin}`)
  const name = `block ${Number(block.number)} (${forkAt(rollup, time)})`

  const config = firstDenimOrigin === undefined ? ofL1 : scaledConfig(ofL1, firstDenimOrigin)

  expect(time, name).toBe(Math.floor(dueMs(rollup, Number(block.number)) / 1_000))
  expect(block.parentHash, name).toBe(parent.hash)
  expect(block.mixHash, `${name}: prevRandao is the origin's`).toBe(l1.mixHash)
  expect(BigInt(block.gasLimit), `${name}: gas limit is the system config's`).toBe(config.gasLimit)
  expect(BigInt(block.baseFeePerGas), `${name}: base fee`).toBe(nextBaseFee(parent, at('canyon')))
  const params = wasAt('holocene') ? config : { ...config, denominator: 0 }
  expect(block.extraData, `${name}: extra data`).toBe(extraData(at('jovian') ? 'jovian' : at('holocene') ? 'holocene' : 'none', params))
  checkHeaderFields(name, block, receipts, l1, at)
  checkAttributes(name, block, l1, config, sequenceNumber, wasAt)
  checkDeposits(name, rollup, story, { block, receipts }, parent, { origin, sequenceNumber })
  const [first] = receipts
  expect(Number(first?.depositNonce), `${name}: nonce of the L1 attributes`).toBe(systemNonce)
  checkReceipts(name, block, receipts, config, at, wasAt)
}

type At = (fork: Fork) => boolean

function checkHeaderFields(name: string, block: Block, receipts: readonly Receipt[], l1: Block, at: At): void {
  expect(block.withdrawals, `${name}: withdrawals`).toEqual(at('canyon') ? [] : undefined)
  if (!at('isthmus')) expect(block.withdrawalsRoot, `${name}: withdrawals root`).toBe(at('canyon') ? emptyTrie : undefined)
  else expect(block.withdrawalsRoot, `${name}: withdrawals root`).toMatch(/^0x[0-9a-f]{64}$/)
  expect(block.parentBeaconBlockRoot, `${name}: beacon root`).toBe(at('ecotone') ? l1.parentBeaconBlockRoot : undefined)
  expect(block.excessBlobGas, `${name}: excess blob gas`).toBe(at('ecotone') ? '0x0' : undefined)
  expect(block.requestsHash, `${name}: requests hash`).toBe(at('isthmus') ? noRequests : undefined)
  // receipts of deposits have a figure too, as in other clients; it is not part of the sum
  const users = receipts.filter(({ type }) => type !== '0x7e')
  const footprint = users.reduce((sum, { blobGasUsed = '0x0' }) => sum + BigInt(blobGasUsed), 0n)
  const used = block.blobGasUsed === undefined ? undefined : BigInt(block.blobGasUsed)
  expect(used, `${name}: blob gas used, from Jovian on the DA footprint`).toBe(at('jovian') ? footprint : at('ecotone') ? 0n : undefined)
}

function checkAttributes(name: string, block: Block, l1: Block, config: Config, sequenceNumber: number, wasAt: At): void {
  const [first] = block.transactions
  if (first === undefined) throw new Error(`${name} is empty`)
  const form = wasAt('jovian') ? 'jovian' : wasAt('isthmus') ? 'isthmus' : wasAt('ecotone') ? 'ecotone' : 'bedrock'
  expect(first.input, `${name}: L1 attributes`).toBe(l1AttributesData(form, l1, sequenceNumber, config))
  expect(first).toMatchObject({
    type: '0x7e',
    from: systemSender,
    to: '0x4200000000000000000000000000000000000015',
    value: '0x0',
    gas: '0xf4240',
    sourceHash: sourceHash(1, l1.hash, `0x${sequenceNumber.toString(16).padStart(64, '0')}`),
  })
}

/** Checks the deposits of a block and their order: those of its origin in the first block of an epoch, then those of an upgrade. */
function checkDeposits(
  name: string,
  rollup: Rollup,
  story: L1Story,
  { block, receipts }: BlockWithReceipts,
  parent: Block,
  { origin, sequenceNumber }: Place,
): void {
  const activated = forkNames.filter(
    (fork) => Number(parent.timestamp) < rollup[`${fork}_time`] && Number(block.timestamp) >= rollup[`${fork}_time`],
  )
  const mine = upgrades[activated[0] ?? 'canyon']
  const isDenim = isActive(rollup, 'denim', Number(block.timestamp))
  if (isDenim) checkBaseTime(name, rollup, { block, receipts })
  const system = isDenim ? 2 : 1
  const all = block.transactions.slice(system)
  const user = sequenceNumber === 0 ? (story.deposits[origin] ?? []) : []
  expect(
    all.slice(0, user.length).map(({ hash }) => hash),
    `${name}: deposits of L1 block ${origin}`,
  ).toEqual(user)
  const upgrade = all.slice(user.length, user.length + (mine?.count ?? 0))
  if (mine !== undefined) {
    expect(keccak256(concatHex(upgrade.map(rawDeposit))), `${name}: upgrade transactions`).toBe(mine.keccak)
    const statuses = receipts.slice(system + user.length, system + user.length + mine.count).map(({ status }) => status)
    expect(statuses, `${name}: upgrade transactions succeed`).toEqual(statuses.map(() => '0x1'))
    expect(all.length, `${name}: an activation block has no transactions of users`).toBe(user.length + mine.count)
  }
  const rest = all.slice(user.length + upgrade.length)
  expect(
    rest.filter(({ type }) => type === '0x7e'),
    `${name}: no other deposits`,
  ).toEqual([])
}

const present = (receipt: Receipt, names: readonly (keyof Receipt)[]): readonly string[] =>
  names.filter((name) => receipt[name] !== undefined)

function checkReceipts(name: string, block: Block, receipts: readonly Receipt[], config: Config, at: At, wasAt: At): void {
  expect(
    receipts.map(({ transactionHash }) => transactionHash),
    name,
  ).toEqual(block.transactions.map(({ hash }) => hash))
  for (const receipt of receipts.filter(({ type }) => type === '0x7e')) {
    expect(receipt.depositReceiptVersion, `${name}: receipt version`).toBe(at('canyon') ? '0x1' : undefined)
    expect(receipt.effectiveGasPrice, `${name}: deposits pay nothing`).toBe('0x0')
  }
  const fields = [
    'l1FeeScalar',
    'l1BaseFeeScalar',
    'l1BlobBaseFeeScalar',
    'operatorFeeScalar',
    'operatorFeeConstant',
    'daFootprintGasScalar',
  ] as const
  for (const receipt of receipts.filter(({ type }) => type !== '0x7e')) {
    const operator = wasAt('isthmus') && (config.operatorFeeScalar !== 0 || config.operatorFeeConstant !== 0n)
    expect(present(receipt, fields), `${name}: fee fields of a receipt`).toEqual([
      ...(wasAt('ecotone') ? ['l1BaseFeeScalar', 'l1BlobBaseFeeScalar'] : ['l1FeeScalar']),
      ...(operator ? ['operatorFeeScalar', 'operatorFeeConstant'] : []),
      ...(wasAt('jovian') ? ['daFootprintGasScalar'] : []),
    ])
    expect(BigInt(receipt.l1Fee ?? 0), `${name}: the L1 fee`).toBeGreaterThan(0n)
    if (operator) {
      expect([Number(receipt.operatorFeeScalar), BigInt(receipt.operatorFeeConstant ?? 0)]).toEqual([
        config.operatorFeeScalar,
        config.operatorFeeConstant,
      ])
    }
    if (wasAt('jovian')) expect(Number(receipt.daFootprintGasScalar)).toBe(config.daFootprintGasScalar || 400)
  }
  expect(at('jovian') || block.blobGasUsed === undefined || block.blobGasUsed === '0x0').toBe(true)
}

/** Returns the cost of a user's transaction in addition to its gas, in wei. @see specs protocol/isthmus/exec-engine.md, "Operator fee"; jovian/exec-engine.md */
export function operatorFeeOf(receipt: Receipt, isJovian: boolean): bigint {
  const scalar = BigInt(receipt.operatorFeeScalar ?? 0)
  const constant = BigInt(receipt.operatorFeeConstant ?? 0)
  const used = BigInt(receipt.gasUsed)
  return constant + (isJovian ? used * scalar * 100n : (used * scalar) / 1_000_000n)
}
