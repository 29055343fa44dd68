/**
 * L1 costs of one transaction as its receipt shows them, by the rules of its block. A field is absent when these rules or the block's L1 attributes
 * do not define it.
 * @see specs protocol/exec-engine.md, "L1-Cost fees"; protocol/isthmus/exec-engine.md, "Operator Fee"; protocol/jovian/exec-engine.md
 */
export type L1FeeFacts = {
  /** L1 base fee of the attributes, wei per gas. */
  readonly l1GasPrice: bigint
  /** Bedrock: calldata gas plus overhead; Ecotone: calldata gas; Fjord: estimated compressed size × 16. */
  readonly l1GasUsed: bigint
  /** Wei; zero for deposits. */
  readonly l1Fee: bigint
  /** Before Ecotone, in millionths. */
  readonly l1FeeScalar?: bigint
  /** From Ecotone's first block, in millionths. That block still has Bedrock's attributes, so the field holds their scalar. */
  readonly l1BaseFeeScalar?: bigint
  /** Wei per blob gas; with attributes of Ecotone or later. */
  readonly l1BlobBaseFee?: bigint
  /** In millionths; with attributes of Ecotone or later. */
  readonly l1BlobBaseFeeScalar?: bigint
  /** With attributes of Isthmus or later, unless this and the constant are zero. */
  readonly operatorFeeScalar?: bigint
  /** Wei; present with the scalar. */
  readonly operatorFeeConstant?: bigint
  /** Gas per byte; with attributes of Jovian or later. */
  readonly daFootprintGasScalar?: bigint
  /** From Jovian, by the block's time: estimated compressed size × that scalar (0 while the attributes are older), also for a deposit. */
  readonly blobGasUsed?: bigint
}
