import type { BlockEnv } from '#evm/ports'
import type { Header } from '#types/header'
import type { ExecutionConfig } from '../executionConfig.ts'

/** Returns the EVM environment of a block. */
export function blockEnvOf({ l2ChainId }: Pick<ExecutionConfig, 'l2ChainId'>, header: Header): BlockEnv {
  return {
    chainId: BigInt(l2ChainId),
    number: header.number,
    timestamp: header.timestamp,
    beneficiary: header.beneficiary,
    prevRandao: header.mixHash,
    gasLimit: header.gasLimit,
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee: 1n,
  }
}
