/**
 * Layout of the interpreter's linear memory. The AssemblyScript sources and the host read this file, so it has only plain numbers.
 * Regions are address space: untouched pages use no memory. Words are four u64 limbs, least significant first. Byte strings
 * (addresses, hashes, code, EVM memory) keep their order. Offsets of entry fields are in bytes.
 */

// ---- regions
/** Start of the module's static data (asc --memoryBase); the context lies below. */
export const staticBase = 0x2000
/** Buffer to exchange data between host and interpreter. */
export const ioBase = 0x10000
/** One entry of `frameBytes` for each depth 0 … 1,024. */
export const framesBase = 0x20000
/** Operand stacks, packed: the stack of a frame begins where the stack of its caller ends. */
export const stacksBase = 0x100000
export const accountsBase = 0x2200000
export const accountsEnd = 0x8200000
/** u32 pointers to entries, open addressing. */
export const accountIndexBase = 0x8200000
export const accountIndexMaxBytes = 0x400000
export const slotIndexBase = 0x8600000
export const slotIndexMaxBytes = 0x1000000
export const transientIndexBase = 0x9600000
export const transientIndexMaxBytes = 0x2000000
export const slotsBase = 0xb600000
export const slotsEnd = 0x15600000
export const undoBase = 0x15600000
export const undoEnd = 0x25600000
export const transientBase = 0x25600000
export const transientEnd = 0x3d600000
export const logsBase = 0x3d600000
export const logsEnd = 0x45600000
/** Return data of the running frame's last call, or the output of a finished message. */
export const returnBase = 0x45600000
export const returnEnd = 0x4d600000
/** Code table and arena; see code.ts. */
export const codeTableBase = 0x4d600000
export const codeTableEnd = 0x4de00000
export const codeBase = 0x4de00000
export const codeEnd = 0x73e00000
/** Step records of the traced build. */
export const stepsBase = 0x73e00000
export const stepsEnd = 0x74e00000
/** Input of the outermost message, written by the host. */
export const inputBase = 0x74e00000
export const inputEnd = 0x78e00000
/** EVM memories, stacked. This last region grows; the initial memory ends at its start. */
export const memoryBase = 0x78e00000

// ---- context: single values at fixed addresses below `staticBase`
/** u32, fork by its index in chainspec/evmRules: 0 paris … 4 osaka. */
export const ctxFork = 0x400
/** u32, 1: a creation proceeds over old storage (rules.creationOverStorage). */
export const ctxCreationOverStorage = 0x404
/** u32, number of the transaction in the session, from 1. */
export const ctxTransaction = 0x408
/** u32, number of frames; the frames below the running one wait. */
export const ctxFrames = 0x40c
/** i64, refund counter of EIP-3529. */
export const ctxRefund = 0x410
/** u64, gas of the running slice; `ctxReserve` has the gas beyond it. */
export const ctxGas = 0x418
export const ctxReserve = 0x420
/** u32, parameters of an exit. */
export const ctxExitEntry = 0x428
export const ctxExitFrom = 0x42c
export const ctxExitSize = 0x430
export const ctxExitId = 0x434
/** u32, end of the return data at `returnBase`. */
export const ctxReturnSize = 0x438
/** u32, one of `ended…`: result of a message. */
export const ctxEnded = 0x43c
/** u32, entry of the account that a message created. */
export const ctxCreated = 0x440
/** u32, end of the log records. */
export const ctxLogsTop = 0x444
/** u32, end of the undo records. */
export const ctxUndoTop = 0x448
export const ctxAccountsTop = 0x44c
export const ctxSlotsTop = 0x450
export const ctxTransientTop = 0x454
export const ctxCodeTop = 0x458
/** u32, number of blob hashes at `ctxBlobHashes`. */
export const ctxBlobHashCount = 0x45c
/** u64 each: secrets of the hash tables. */
export const ctxSeed = 0x460
/** u32, highest used address of stacks and memory since the instance was created; memory up to there is resident. */
export const ctxStacksHigh = 0x470
export const ctxMemoryHigh = 0x474
/** u32, soft bound of the code arena in bytes. */
export const ctxCodeSoftBytes = 0x478
/** u32, 1: record steps, 2: record calls, 3: both (traced build). */
export const ctxTraceMode = 0x47c
/** u32, end of the step records. */
export const ctxStepsTop = 0x480
/** u32, native contracts that exist: 0 none, 1 those of Beryl, 2 those since Cobalt. */
export const ctxNatives = 0x4d0
/** u32, address of the word of the caller of a native contract. */
export const ctxNativeCaller = 0x4d4
/** u32 bits of a native frame: see `native…Flag`. */
export const ctxNativeFlags = 0x4d8
/** u32, codes that sessions found in the arena; one that the host has just loaded is found too. The host takes the number and resets it. */
export const ctxCodesFound = 0x4dc
/** Bitmap of 0x400 bits: precompiles at addresses 0 … 0x3ff. */
export const ctxPrecompiles = 0x500
/** Words. */
export const ctxChainId = 0x600
export const ctxNumber = 0x620
export const ctxTimestamp = 0x640
export const ctxBeneficiary = 0x660
export const ctxPrevRandao = 0x680
export const ctxGasLimit = 0x6a0
export const ctxBaseFee = 0x6c0
export const ctxBlobBaseFee = 0x6e0
export const ctxOrigin = 0x700
export const ctxGasPrice = 0x720
/** The outermost message: words of caller, to and value; u64 gas; u32 input size; u32 1 for a creation. */
export const ctxMessageCaller = 0x740
export const ctxMessageTo = 0x760
export const ctxMessageValue = 0x780
export const ctxMessageGas = 0x7a0
export const ctxMessageInputSize = 0x7a8
export const ctxMessageIsCreate = 0x7ac
/** Words, at most 64. */
export const ctxBlobHashes = 0x800

/** Gas of one slice. The interpreter exits to the host after each slice for its interrupt check. */
export const gasOfSlice = 1_000_000

// ---- account entry
/** Limbs of the address: u64, u64, u32. */
export const accountAddress = 0
/** u32 bits: see `account…Flag`. */
export const accountFlags = 20
/** Keccak of the address, set when the entry is created. */
export const accountKey = 24
export const accountNonce = 56
/** Word. */
export const accountBalance = 64
/** Bytes. */
export const accountCodeHash = 96
/** u32, number of a transaction; 0 means none. */
export const accountWarmIn = 128
export const accountTouchedIn = 132
export const accountCreatedIn = 136
export const accountDestroyedIn = 140
/** u32, entry in the code table, valid while the table's generation equals `accountCodeGeneration` (u32). */
export const accountCode = 144
export const accountCodeGeneration = 148
/** u32, first slot entry of the account; `slotNext` links the others. */
export const accountSlots = 152
/** u32, index of the entry, from 0. */
export const accountNumber = 156
/** u32, the account changed before this one, 0 at the end; only with `accountDirtyFlag`. */
export const accountNextDirty = 160
/** u32, number of the precompile that runs at an address from 0x400 on; 0: none. The host writes it. */
export const accountPrecompile = 164
export const accountBytes = 176

/** The entry holds the account of the view. */
export const accountLoadedFlag = 1
export const accountExistsFlag = 2
/** The view has the account. */
export const accountBeforeFlag = 4
/** The view has slots of the account (its storage root is not the empty root). */
export const accountStorageFlag = 8
/** The view's slots of the account are obsolete. */
export const accountWipedFlag = 16
/** Balance, nonce, code or existence changed at some time in the session. */
export const accountDirtyFlag = 32
/** The account's code was run or read at some time in the session. */
export const accountCodedFlag = 64

// ---- slot entry
/** Word. */
export const slotNumber = 0
export const slotValue = 32
/** Value in the view, zero after a wipe. */
export const slotBefore = 64
/** Value at the start of transaction `slotSeenIn` (EIP-2200). */
export const slotOriginal = 96
/** Keccak of the slot number, set before the view is read. */
export const slotKey = 128
/** u32. */
export const slotAccount = 160
export const slotNext = 164
export const slotSeenIn = 168
export const slotWarmIn = 172
/** u32, 1: the view's value is loaded. */
export const slotLoaded = 176
/** u32, the slot set before this one, 1 at the end; 0: never set. */
export const slotDirty = 180
export const slotBytes = 184

// ---- log record: followed by the topics (bytes, 32 each) and the data, padded to eight bytes
export const logAccount = 0
export const logTopics = 4
export const logDataBytes = 8
export const logHeadBytes = 16

// ---- exits of `run`: why the interpreter needs the host
export const exitEnded = 0
/** `ctxExitEntry`: an account entry to load. */
export const exitAccount = 1
/** `ctxExitEntry`: a slot entry to load. */
export const exitSlot = 2
/** `ctxExitEntry`: an account entry whose code the arena needs. */
export const exitCode = 3
/** `ctxExitId`: number of the precompile, which is its address below 0x400; `ctxExitFrom`, `ctxExitSize`: its input; gas: `ctxGas` + `ctxReserve` of the call. */
export const exitPrecompile = 4
/** `ctxExitId`: number of a block within the last 256. */
export const exitBlockHash = 5
/** A slice of gas is used up. */
export const exitFuel = 6
/** `ctxExitEntry`: account whose new code is `ctxExitSize` bytes at `ctxExitFrom`; the entry has its hash. */
export const exitNewCode = 7
/** The step records must be read (traced build). */
export const exitSteps = 8
/** A call or creation begins or ends (traced build). */
export const exitEnter = 9
export const exitLeave = 10
/** A region is full, which no valid block can cause. */
export const exitTooLarge = 11
/** `ctxExitId`: number of the native contract; `ctxExitEntry`: its account; input as for a precompile; `ctxNativeCaller`, `ctxNativeFlags`. */
export const exitNative = 12

export const nativeStaticFlag = 1
/** The frame is a DELEGATECALL or CALLCODE. */
export const nativeBorrowedFlag = 2
export const nativeValueFlag = 4

// ---- result of a message or frame
export const endedSuccess = 0
export const endedRevert = 1
/** Halts: consume all gas and revert all changes. */
export const endedOutOfGas = 2
export const endedUnderflow = 3
export const endedOverflow = 4
export const endedInvalidJump = 5
export const endedInvalidOpcode = 6
export const endedWriteProtection = 7
export const endedCallDepth = 8
export const endedInsufficientBalance = 9
export const endedCollision = 10
export const endedInvalidCode = 11
export const endedCodeSize = 12
export const endedInitcodeSize = 13
export const endedReturnDataBounds = 14
export const endedNonceOverflow = 15
export const endedPrecompileFailure = 16

// ---- transient entry
export const transientNumber = 0
export const transientValue = 32
export const transientAccount = 64
export const transientEntryBytes = 72
