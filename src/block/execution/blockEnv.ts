import { blobGasPrice } from '#chainspec/ethereumBlobs'
import type { BlockEnv } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import type { Header } from '#types/header'
import { hashFromBytes } from '#types/ids'
import type { ExecutionConfig } from '../executionConfig.ts'

/** Returns the EVM environment of a block. Before the merge `prevRandao` holds the difficulty, because both use the same opcode (EIP-4399). */
export function blockEnvOf({ schedule, l2ChainId }: Pick<ExecutionConfig, 'schedule' | 'l2ChainId'>, header: Header): BlockEnv {
  return {
    chainId: BigInt(l2ChainId),
    number: header.number,
    timestamp: header.timestamp,
    beneficiary: header.beneficiary,
    prevRandao: header.difficulty === 0n ? header.mixHash : hashFromBytes(bytesFromBigint(header.difficulty, 32)),
    gasLimit: header.gasLimit,
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee: schedule.ethereum ? blobGasPrice(schedule.ethereum, header) : 1n,
  }
}
