import { ContractEvent } from '../kit/events.ts'

export const policyCreated = new ContractEvent('PolicyCreated(uint64 indexed,address indexed,uint8)')
export const policyAdminStaged = new ContractEvent('PolicyAdminStaged(uint64 indexed,address indexed,address indexed)')
export const policyAdminUpdated = new ContractEvent('PolicyAdminUpdated(uint64 indexed,address indexed,address indexed)')
export const compositePolicyUpdated = new ContractEvent('CompositePolicyUpdated(uint64 indexed,address indexed,uint64[])')
export const membershipEvents = {
  allowlist: new ContractEvent('AllowlistUpdated(uint64 indexed,address indexed,bool,address[])'),
  blocklist: new ContractEvent('BlocklistUpdated(uint64 indexed,address indexed,bool,address[])'),
}
