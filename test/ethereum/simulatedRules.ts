import type { EvmSession } from '#evm/ports'
import { type ExecutedCalls, openHeader, type SimulatedRules } from '#simulation/simulateV1/simulatedRules'
import type { Header } from '#types/header'
import { emptyRoot, zeroHash } from '#types/ids'
import { childExcessBlobGas } from './blobs.ts'
import { beginEthereumBlock, endEthereumBlock } from './blockChanges.ts'
import { createEthereumFees } from './fees.ts'
import { ethereumBaseFee } from './headerRules.ts'
import { type EthereumSchedule, followsEthereum } from './schedule.ts'

/** Rules for blocks of Ethereum's own chain, as go-ethereum simulates them. */
export function ethereumSimulatedRules(schedule: EthereumSchedule): SimulatedRules {
  return {
    style: 'go-ethereum',
    transferLogs: 'beside logs',
    hasStateRoots: true,
    defaultGas: (gasLeft) => gasLeft,
    childBaseFee: (parent, timestamp) => ethereumBaseFee(schedule, parent, timestamp),
    open(parent, parentHash, plan, baseFee): Header {
      const { timestamp } = plan
      const { baseFeePerGas: _fee, ...plain } = openHeader(parent, parentHash, plan, baseFee)
      return {
        ...plain,
        ...(followsEthereum(schedule, 'london', plan) && { baseFeePerGas: baseFee }),
        ...(!followsEthereum(schedule, 'paris', plan) && { difficulty: parent.difficulty }),
        ...(followsEthereum(schedule, 'shanghai', plan) && { withdrawalsRoot: emptyRoot }),
        ...(followsEthereum(schedule, 'cancun', plan) && {
          excessBlobGas: childExcessBlobGas(schedule, parent, timestamp),
          parentBeaconBlockRoot: zeroHash,
        }),
      }
    },
    begin: (session, header) => beginEthereumBlock(session, schedule, { header, transactions: [] }),
    fees: (_session, { timestamp }) => createEthereumFees(schedule, timestamp),
    end: (session, header, parent, run) => endOf(session, schedule, header, parent, run),
  }
}

function endOf(session: EvmSession, schedule: EthereumSchedule, header: Header, parent: Header, run: ExecutedCalls): Partial<Header> {
  const block = { header, transactions: run.raws, ...(header.withdrawalsRoot !== undefined && { withdrawals: [] }) }
  const ended = endEthereumBlock(session, schedule, parent, block, run.receipts)
  return ended.kind === 'ended' ? ended.end : {}
}
