/* llvm_library.h - LLVM's C API, loaded when code is first generated
 *
 * Most commands generate no code, and LLVM has a hundred megabytes with some 340,000 relocations: a program linked with
 * it needs 20 ms and 48 MB at every start. The functions in use are listed here; `llvm.BuildFAdd` is LLVMBuildFAdd.
 */
#ifndef BG_LLVM_LIBRARY_H
#define BG_LLVM_LIBRARY_H

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define LLVM_CALLED(X) \
    X(AddAttributeAtIndex) \
    X(AddFunction) \
    X(AddGlobal) \
    X(AddIncoming) \
    X(AppendBasicBlockInContext) \
    X(ArrayType) \
    X(BuildAnd) \
    X(BuildBitCast) \
    X(BuildBr) \
    X(BuildCall2) \
    X(BuildCondBr) \
    X(BuildFAdd) \
    X(BuildFCmp) \
    X(BuildFDiv) \
    X(BuildFMul) \
    X(BuildFNeg) \
    X(BuildFSub) \
    X(BuildGEP2) \
    X(BuildICmp) \
    X(BuildInBoundsGEP2) \
    X(BuildLoad2) \
    X(BuildNSWAdd) \
    X(BuildNSWMul) \
    X(BuildNot) \
    X(BuildOr) \
    X(BuildPhi) \
    X(BuildRetVoid) \
    X(BuildSExt) \
    X(BuildSelect) \
    X(BuildStore) \
    X(ConstArray) \
    X(ConstInt) \
    X(ConstPtrToInt) \
    X(ConstReal) \
    X(ConsumeError) \
    X(ContextCreate) \
    X(ContextDispose) \
    X(ContextSetDiagnosticHandler) \
    X(CountParamTypes) \
    X(CreateBuilderInContext) \
    X(CreateEnumAttribute) \
    X(CreateMemoryBufferWithMemoryRangeCopy) \
    X(CreatePassBuilderOptions) \
    X(CreateTargetDataLayout) \
    X(CreateTargetMachine) \
    X(DisposeBuilder) \
    X(DisposeErrorMessage) \
    X(DisposeMemoryBuffer) \
    X(DisposeMessage) \
    X(DisposeModule) \
    X(DisposePassBuilderOptions) \
    X(DisposeTargetData) \
    X(DisposeTargetMachine) \
    X(DoubleTypeInContext) \
    X(FunctionType) \
    X(GetBufferSize) \
    X(GetBufferStart) \
    X(GetDefaultTargetTriple) \
    X(GetDiagInfoDescription) \
    X(GetDiagInfoSeverity) \
    X(GetEnumAttributeKindForName) \
    X(GetErrorMessage) \
    X(GetHostCPUFeatures) \
    X(GetHostCPUName) \
    X(GetIntrinsicDeclaration) \
    X(GetMDKindIDInContext) \
    X(GetParam) \
    X(GetParams) \
    X(GetTargetFromTriple) \
    X(GetTypeKind) \
    X(Int1TypeInContext) \
    X(Int32TypeInContext) \
    X(Int64TypeInContext) \
    X(IntrinsicGetType) \
    X(LookupIntrinsicID) \
    X(MDNodeInContext2) \
    X(MDStringInContext2) \
    X(MetadataAsValue) \
    X(MetadataReplaceAllUsesWith) \
    X(ModuleCreateWithNameInContext) \
    X(OrcAbsoluteSymbols) \
    X(OrcCreateDynamicLibrarySearchGeneratorForProcess) \
    X(OrcCreateLLJIT) \
    X(OrcDisposeLLJIT) \
    X(OrcJITDylibAddGenerator) \
    X(OrcJITDylibDefine) \
    X(OrcLLJITAddObjectFile) \
    X(OrcLLJITGetGlobalPrefix) \
    X(OrcLLJITGetMainJITDylib) \
    X(OrcLLJITLookup) \
    X(OrcLLJITMangleAndIntern) \
    X(ParseCommandLineOptions) \
    X(PointerType) \
    X(PositionBuilderAtEnd) \
    X(PrintModuleToString) \
    X(RunPasses) \
    X(SetInitializer) \
    X(SetMetadata) \
    X(SetModuleDataLayout) \
    X(SetTarget) \
    X(SetVisibility) \
    X(TargetMachineEmitToMemoryBuffer) \
    X(TemporaryMDNode) \
    X(TypeOf) \
    X(ValueAsMetadata) \
    X(VerifyModule) \
    X(VoidTypeInContext)

struct llvm_called {
#define MEMBER(name) __typeof__(LLVM##name) *name;
    LLVM_CALLED(MEMBER)
#undef MEMBER
};
/* Empty until llvm_load has been called. */
extern struct llvm_called llvm;

/* Memory that LLVM may need: by itself, and for each function that it compiles, up to a number of functions. (For more,
 * this would refuse models that do fit.) It ends the program if it gets none. */
enum { LLVM_ROOM = 16 << 20, FUNCTION_ROOM = 64 << 10, MOST_ROOMS = 4096 };

/* Loads LLVM and prepares it for the present processor, once. NULL, or why that failed (valid for ever). */
const char *llvm_load(void);

#endif
