import { fromHex } from '#lib/hex'
import { type Address, parseAddress } from '#types/ids'
import { readDataText } from './dataFile.ts'

/** Address at which Canyon's activation block sets `create2DeployerCode`. @see specs protocol/canyon/overview.md, "create2Deployer" */
export const create2DeployerAddress: Address = parseAddress('0x13b0d85ccb8bf860b6b79af3029fca081ae9bef2')
export const create2DeployerCode: Uint8Array = fromHex(readDataText('create2Deployer.hex'))
