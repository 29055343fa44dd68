/** Chain ids of the built-in chains by name. Apart from `networks.ts`, because the tables of flags need the names at every start. */
export const networkChainIds = { base: 8453, 'base-sepolia': 84_532 } as const

export type NetworkName = keyof typeof networkChainIds
export const networkNames = Object.keys(networkChainIds) as readonly NetworkName[]

/** Returns the name of a built-in chain by its chain id. */
export const networkNameOf = (chainId: number): NetworkName | undefined => networkNames.find((name) => networkChainIds[name] === chainId)
