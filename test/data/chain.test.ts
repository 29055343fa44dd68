import { describe, expect, it } from 'vitest'
import { timestampOf } from '#chainspec/blockTime'
import { applyConfigUpdates } from '#chainspec/configUpdate'
import { userDeposits } from '#chainspec/deposits'
import { encodeL1Attributes, l1AttributesFormat } from '#chainspec/l1Info'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import { parseRollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import { upgradeTransactionsAt } from '#chainspec/upgradeTransactions'
import type { Payload } from '#types/payload'
import { depositType } from '#types/transaction'
import { readRecordedL2, recordedChains } from '../harness/chain/l2Blocks.ts'
import { readRecordedL1Blocks } from '../harness/l1/blocks.ts'
import { readShared, readSharedJson } from '../harness/sharedData.ts'

const formats: Record<string, string[]> = {
  'op-bedrock-to-holocene': ['bedrock', 'ecotone'],
  'op-ecotone-to-jovian': ['bedrock', 'ecotone', 'isthmus', 'jovian'],
}

describe.each(recordedChains)('chainspec: %s', (name) => {
  const { config, payloads } = readRecordedL2(name)
  const l1 = readRecordedL1Blocks(name)

  it('computes the time of every block as in its header', () => {
    expect(payloads.map(({ blockNumber }) => timestampOf(config, blockNumber))).toEqual(payloads.map(({ timestamp }) => timestamp))
  })

  /** Builds a block's deposits from its parent and L1. */
  function depositsOf(parent: Payload, payload: Payload) {
    const [parentRef, ref] = [l2RefOf(config, parent), l2RefOf(config, payload)]
    const origin = l1[ref.l1Origin.number]
    if (origin?.ref.hash !== ref.l1Origin.hash) throw new Error(`L1 block ${ref.l1Origin.number} ${ref.l1Origin.hash} not found`)
    const isNewEpoch = ref.l1Origin.number !== parentRef.l1Origin.number
    const sequenceNumber = isNewEpoch ? 0 : parentRef.sequenceNumber + 1
    const before = systemConfigOf(config, parent)
    const { systemConfig, skipped } = isNewEpoch
      ? applyConfigUpdates(before, config, { timestamp: origin.ref.timestamp, receipts: origin.receipts })
      : { systemConfig: before, skipped: [] }
    const times = { parentTimestamp: parent.timestamp, timestamp: payload.timestamp }
    const of = { hash: origin.ref.hash, header: origin.header }
    const attributes = encodeL1Attributes(config, of, systemConfig, { ...times, sequenceNumber })
    const user = isNewEpoch ? userDeposits(config.depositContract, origin.ref.hash, origin.receipts) : []
    const upgrade = upgradeTransactionsAt(config.schedule, parent.timestamp, payload.timestamp)
    return { attributes, user, upgrade, systemConfig, skipped, isUpdated: systemConfig !== before, mixHash: origin.header.mixHash }
  }

  it('builds the deposits of every block from L1, L1 attributes first, byte for byte', () => {
    const seen = { formats: new Set<string>(), user: 0, upgrade: 0, updates: 0 }
    for (const [i, parent] of payloads.slice(0, -1).entries()) {
      const payload = payloads[i + 1] ?? parent
      const { attributes, user, upgrade, ...rest } = depositsOf(parent, payload)
      expect(payload.transactions.filter((raw) => raw[0] === depositType)).toEqual([attributes, ...user, ...upgrade])
      expect(payload.gasLimit).toBe(rest.systemConfig.gasLimit)
      expect(payload.prevRandao).toBe(rest.mixHash)
      expect(rest.skipped).toEqual([])
      seen.formats.add(l1AttributesFormat(config.schedule, parent.timestamp, payload.timestamp))
      seen.user += user.length
      seen.upgrade += upgrade.length
      seen.updates += rest.isUpdated ? 1 : 0
    }
    expect([...seen.formats]).toEqual(formats[name])
    expect(seen.user).toBeGreaterThan(5)
    expect(seen.upgrade).toBe(name === 'op-ecotone-to-jovian' ? 22 : 9)
    expect(seen.updates).toBeGreaterThan(3)
  })

  it("formats the rollup config as Base's client does, and parses it back to the same config", () => {
    const parsed = parseRollupConfig(readSharedJson(`chains/${name}/rollup.json`))
    expect(parsed.warnings).toEqual([])
    const [, recorded] = readShared(`chains/${name}/rpc/optimism_rollupConfig.io`).toString().split('<< ')
    const { result } = JSON.parse(recorded ?? '')
    const ours = toRollupJson(parsed.config)
    // op-node's form has neither Granite's channel timeout nor the chain's base-fee parameters, and packs unset fields
    if (name === 'op-ecotone-to-jovian') expect(ours).toEqual(result)
    const { eip1559Params, ...systemConfig } = result.genesis.system_config
    expect(ours).toMatchObject({ ...result, genesis: { ...result.genesis, system_config: systemConfig } })
    expect(parseRollupConfig(ours).config).toEqual(parsed.config)
  })
})
